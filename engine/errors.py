"""The errors of memsift, as a tree.

    MemsiftError                 a person can act on it: the message says what happened, where, and what to do
    +-- RootError                a folder of memories cannot be used
    |   +-- RootNotFoundError
    |   +-- RootUnreadableError
    +-- UnknownMemoryError       a root has no memory with this id
    +-- CurationError            a memory cannot be changed as asked
    |   +-- ReadOnlyStoreError   memsift cannot write the format of a root
    |   +-- InvalidMemoryError   the changed memory would break a rule of its format
    |   +-- StatusError          a memory's status does not allow the change
    |   +-- ChangedSinceError    a file changed after it was read; `detail` is the difference
    |   +-- RootLockedError      another program writes the root
    |   +-- TombstoneError       a person rejected this text before
    |   +-- JournalError         the journal of changes cannot be used, or has no such change
    +-- DecisionsError           the decisions about findings cannot be read or written
    +-- MissingLibraryError      a check, a command or a screen needs a package that is not installed
    +-- ConfigError              a setting is not allowed: in config.toml, memory-config.json, a variable or a flag
    +-- SettingsFileError        a settings.json of Claude Code cannot be read or changed
    +-- PromptFileError          a prompt, history or transcript file cannot be read
    +-- ProviderError            a judge's provider gave no answer; `status` is the status of the verdict
    |   +-- ProviderTimeoutError
    |   +-- ProviderHttpError
    |   +-- ProviderRefusedError
    |   +-- ProviderCancelledError
    |   +-- MissingKeyError
    +-- RatingsError             the ratings of memories cannot be read or written, or contradict the command
    +-- LabelStoreError          the label store cannot be opened or written
    |   +-- NewerStoreError
    |   +-- MovedStoreError      another program moved, replaced or deleted the open file
    +-- ExchangeError            a file of labels or runs is malformed, or contradicts the label store
    +-- TuningError              the labels do not support a cutoff, or its file cannot be written

The command line prints one line on stderr and exits with 2. The app shows a toast. The hook stays silent and logs it.
"""

from __future__ import annotations


class MemsiftError(Exception):
    """An error that a person can act on. `title` is a few words for a toast; the message is one or two sentences."""

    title = "memsift"
    detail = ""
    """More lines, for a person who wants to know: a difference of two files."""


class RootError(MemsiftError):
    title = "Memory root"


class RootNotFoundError(RootError):
    pass


class RootUnreadableError(RootError):
    pass


class UnknownMemoryError(MemsiftError):
    title = "Memory"


class CurationError(MemsiftError):
    title = "Memory"


class ReadOnlyStoreError(CurationError):
    pass


class InvalidMemoryError(CurationError):
    pass


class StatusError(CurationError):
    pass


class ChangedSinceError(CurationError):
    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


class RootLockedError(CurationError):
    pass


class TombstoneError(CurationError):
    pass


class JournalError(CurationError):
    title = "Journal"


class DecisionsError(MemsiftError):
    title = "Decisions"


class MissingLibraryError(MemsiftError):
    title = "Package"


EXTRAS = {
    "aiohttp": "serve",
    "anthropic": "anthropic",
    "distributed": "dask",
    "ir_measures": "stats",
    "numpy": "stats",
    "scipy": "stats",
    "sklearn": "stats",
    "textual_plotext": "stats",
    "textual_serve": "serve",
}
"""The extra of the wheel that brings each optional package, by the name in an import."""


def missing_library(error: ImportError) -> MissingLibraryError | None:
    """What to install after *error*; None if the missing module belongs to no extra."""
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        return None
    from engine.installation import install_command

    install = install_command(EXTRAS[package])
    return MissingLibraryError(f"This needs the package {package}, which is not installed: {install}")


class ConfigError(MemsiftError):
    title = "Configuration"


class SettingsFileError(MemsiftError):
    title = "Claude Code settings"


class PromptFileError(MemsiftError):
    title = "Prompts"


class ProviderError(MemsiftError):
    """A provider gave no usable answer. `status` is an error status of `engine.judge.verdict`."""

    title = "Judge"
    status = "http_error"


class ProviderTimeoutError(ProviderError):
    status = "timeout"


class ProviderHttpError(ProviderError):
    """`http_status` is 0 if no server answered. `retry_after_s` is the server's advice, in seconds."""

    status = "http_error"

    def __init__(self, message: str, http_status: int = 0, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.http_status = http_status
        self.retry_after_s = retry_after_s


class ProviderRefusedError(ProviderError):
    status = "refused"


class ProviderCancelledError(ProviderError):
    status = "cancelled"


class MissingKeyError(ProviderError):
    status = "no_key"


class RatingsError(MemsiftError):
    title = "Ratings"


class LabelStoreError(MemsiftError):
    title = "Labels"


class NewerStoreError(LabelStoreError):
    pass


class MovedStoreError(LabelStoreError):
    pass


class ExchangeError(MemsiftError):
    title = "Import"


class TuningError(MemsiftError):
    title = "Tuning"
