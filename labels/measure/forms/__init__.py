"""A report in the forms in which it is read: text, Markdown, one page of HTML, JSON."""
