"""The errors of memsift, as a tree.

    MemsiftError
    +-- RootError
    |   +-- RootNotFoundError, RootUnreadableError
    +-- UnknownMemoryError
    +-- CurationError
    |   +-- InvalidMemoryError, StatusError, ChangedSinceError, RootLockedError, TombstoneError
    |   +-- JournalError
    +-- DecisionsError, LabelStoreError, ExchangeError, TuningError, PromptFileError, ConfigError
    |   +-- NewerStoreError, MovedStoreError (of LabelStoreError)
    +-- SettingsFileError, MissingLibraryError
    +-- ProviderError
        +-- ProviderTimeoutError, ProviderHttpError, ProviderRefusedError, ProviderCancelledError, MissingKeyError

The command line prints one line on stderr and exits with 2. The app shows a toast. The hook stays silent and logs it.
"""

from __future__ import annotations


class MemsiftError(Exception):
    """An error that a person can act on: the message says what happened, to what, and what to do.

    `title` is a few words for a toast; a subclass without its own has its parent's. `detail`: more lines, for a person
    who wants to know, such as the difference of two files.
    """

    title = "memsift"
    detail = ""

    def __init_subclass__(cls, title: str = "") -> None:
        if title:
            cls.title = title


class RootError(MemsiftError, title="Memory root"):
    """A folder of memories cannot be used, or what belonged to its old path cannot be taken over."""


class RootNotFoundError(RootError):
    """There is no such folder."""


class RootUnreadableError(RootError):
    """The folder cannot be read."""


class UnknownMemoryError(MemsiftError, title="Memory"):
    """A root has no memory with this id."""


class CurationError(MemsiftError, title="Memory"):
    """A memory cannot be changed as asked, for example because memsift only reads its format."""


class InvalidMemoryError(CurationError):
    """The changed memory would break a rule of its format."""


class StatusError(CurationError):
    """The memory's status does not allow the change."""


class ChangedSinceError(CurationError):
    """A file changed after it was read. `detail` is the difference."""

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


class RootLockedError(CurationError):
    """Another program writes the root."""


class TombstoneError(CurationError):
    """A person rejected this text before."""


class JournalError(CurationError, title="Journal"):
    """The journal of changes cannot be used, or has no such change."""


class DecisionsError(MemsiftError, title="Decisions"):
    """The decisions and ratings cannot be read or written."""


class MissingLibraryError(MemsiftError, title="Package"):
    """A check, a command or a screen needs a package that is not installed."""


EXTRAS = {
    **dict.fromkeys(("aiohttp", "textual_serve"), "serve"),
    "distributed": "dask",
    **dict.fromkeys(("ir_measures", "numpy", "scipy", "sklearn", "textual_plotext"), "stats"),
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


class ConfigError(MemsiftError, title="Configuration"):
    """A setting is not allowed: in config.toml, memory-config.json, a variable or a flag."""


class SettingsFileError(MemsiftError, title="Claude Code settings"):
    """A settings.json of Claude Code cannot be read or changed."""


class PromptFileError(MemsiftError, title="Prompts"):
    """A prompt, history or transcript file cannot be read."""


class ProviderError(MemsiftError, title="Judge"):
    """A judge's provider gave no usable answer. `status` is an error status of `engine.judge.verdict`."""

    status = "http_error"


class ProviderTimeoutError(ProviderError):
    """There was no answer in time."""

    status = "timeout"


class ProviderHttpError(ProviderError):
    """`http_status` is 0 if no server answered. `retry_after_s` is the server's advice, in seconds."""

    def __init__(self, message: str, http_status: int = 0, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.http_status = http_status
        self.retry_after_s = retry_after_s


class ProviderRefusedError(ProviderError):
    """The provider does not answer this question."""

    status = "refused"


class ProviderCancelledError(ProviderError):
    """The call was given up before it was answered."""

    status = "cancelled"


class MissingKeyError(ProviderError):
    """There are no credentials for the provider."""

    status = "no_key"


class LabelStoreError(MemsiftError, title="Labels"):
    """The label store cannot be opened or written."""


class NewerStoreError(LabelStoreError):
    """A newer memsift wrote the label store."""


class MovedStoreError(LabelStoreError):
    """Another program moved, replaced or deleted the open label store."""


class ExchangeError(MemsiftError, title="Import"):
    """A file of labels or runs is malformed, or contradicts the label store."""


class TuningError(MemsiftError, title="Tuning"):
    """The labels do not support a cutoff, or its file cannot be written."""
