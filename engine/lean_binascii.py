"""What the hook's path needs of `binascii`, under the same names.

It is loaded for the first check sum, from where it lies (see `extensions`): many prompts read none, and are spared
0.2 ms for a module and its library. One that reads fifty looks for it once, as each import would take 5,000
instructions.
"""

from __future__ import annotations

from engine import extensions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from binascii import *  # noqa: F403
else:

    def __getattr__(name):
        """Looked for once; from then on it is here."""
        extensions.load("binascii")
        import binascii

        globals()[name] = found = getattr(binascii, name)
        return found
