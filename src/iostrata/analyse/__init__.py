"""What a trace says, as Ibis expressions: each analysis is one, and runs on every engine.

An expression is over the tables of `analyse.tables`, in the subset that DuckDB and Spark answer
alike: integers of ns and bytes, windows by order, group-by, joins. An engine turns it into its SQL.
"""
