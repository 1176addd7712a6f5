"""Charts as SVG text: pure functions of numbers, with a title and a description for those who do not see them.

Colours and fonts are the page's: elements only carry classes (`s0`, `s1`, ... for the systems). Nothing refers to
anything outside.
"""
