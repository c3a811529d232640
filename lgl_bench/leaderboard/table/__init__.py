"""The leaderboard table: the record of a row, and the one door of the CSV.

`schema` is the record, `names` are the names of its columns, `columns` and `problems` the check of a whole table that
follows from it. `read` is the strict reader, `text` reads a table of strangers or of another version as text, `write`
is the only writer, `rows` makes single typed rows.
"""
