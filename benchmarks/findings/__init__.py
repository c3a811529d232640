"""The questions of docs/findings.md, one module each; `benchmarks/findings.py` is the command.

`tables` reads what is in the repository, `asked` says which pairs of rows are tested, `tested` tests them or looks up
what was tested, `text` is Markdown, `page` puts the sections together.
"""
