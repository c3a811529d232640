"""What the boards show: docs/findings.md, every number of it filled in from tables in the repository.

    python benchmarks/findings.py pairs RUN... [--data-dir DATA]   # tests pairs of rows from stored answers
    python benchmarks/findings.py facts [STREAM...] [--data-dir DATA]   # homophily of imported streams
    python benchmarks/findings.py page                             # writes docs/findings.md

The first command needs run folders, because only answers can be drawn from. The folders keep what came out, and
`lgl-bench leaderboard build` writes it beside their boards. The second needs imported streams and keeps
`leaderboard/findings/streams.csv`. The third needs nothing but the repository. The package `findings` beside this file
has one module per question.
"""

from findings.command import main

if __name__ == "__main__":
    main(__doc__)
