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
        return text if text.isascii() else _unicodedata().normalize(form, text)

    def _unicodedata():
        extensions.load("unicodedata")
        import unicodedata

        return unicodedata

    def __getattr__(name):
        """Looked for once; from then on it is here."""
        globals()[name] = found = getattr(_unicodedata(), name)
        return found
