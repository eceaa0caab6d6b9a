"""The HTML report of a run: aggregates as one JSON document, and the page that draws them."""
