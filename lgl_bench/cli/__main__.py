"""`python -m lgl_bench.cli`: the command line without the installed script."""

from lgl_bench.cli import main

if __name__ == "__main__":
    main(prog_name="lgl-bench")
