"""Charts of a report: users give rows of data and get a drawing, with axes, colours and a legend of one make."""
