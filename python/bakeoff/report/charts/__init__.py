"""Charts of a report: users give rows of data and what stands on the axes, and get a drawing.

`lines`, `panels` (one for each contender), `heat` (maps of cells) and `bars` (intervals) build charts, `surface` those
in three dimensions. `axes` has what can stand on an axis, `theme` sizes, inks and legends, `palette` colours and marks.
A `drawing` is made when somebody looks, and `svg` draws it.
"""
