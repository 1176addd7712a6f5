"""What the hook's path needs of `unicodedata`, under the same names.

It is loaded for the first character that is not ASCII. Many prompts have none, and are 0.1 ms cheaper.
"""

from __future__ import annotations

from engine import extensions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unicodedata import *  # noqa: F403
else:

    def normalize(form, text):
        return text if text.isascii() else __getattr__("_normalize")(form, text)

    def __getattr__(name):
        """Looked for once; from then on it is here."""
        extensions.load("unicodedata")
        import unicodedata

        globals()[name] = found = getattr(unicodedata, name.lstrip("_"))
        return found
