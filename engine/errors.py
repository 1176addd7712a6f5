"""What can go wrong, as a tree.

    MemsiftError                 something a person can act on: the message says what, where and what to do
    +-- RootError                a folder of memories cannot be used
    |   +-- RootNotFoundError
    |   +-- RootUnreadableError
    +-- UnknownMemoryError       there is no memory of that id in a root
    +-- ConfigError              memory-config.json or a MEMSIFT_* variable does not make sense
    +-- PromptFileError          a prompt, history or transcript file cannot be read
    +-- ProviderError            a judge's provider gave no answer; `status` is the verdict status it stands for
    |   +-- ProviderTimeoutError
    |   +-- ProviderHttpError
    |   +-- ProviderRefusedError
    |   +-- ProviderCancelledError
    |   +-- MissingKeyError
    +-- LabelStoreError          the label store cannot be opened or written
    |   +-- NewerStoreError
    +-- ExchangeError            a file of labels or runs does not say what it should, or contradicts the label store
    +-- TuningError              labels cannot make a cutoff, or its file cannot be written

The command line prints one line on stderr and exits with 2, the app shows a toast, the hook stays silent and logs it.
"""

from __future__ import annotations


class MemsiftError(Exception):
    """Something a person can act on. `title` is a few words for a toast; the message is one or two sentences."""

    title = "memsift"


class RootError(MemsiftError):
    title = "Memory root"


class RootNotFoundError(RootError):
    pass


class RootUnreadableError(RootError):
    pass


class UnknownMemoryError(MemsiftError):
    title = "Memory"


class ConfigError(MemsiftError):
    title = "Configuration"


class PromptFileError(MemsiftError):
    title = "Prompts"


class ProviderError(MemsiftError):
    """A provider gave no usable answer. `status` is one of the error statuses of `engine.judge.verdict.Status`."""

    title = "Judge"
    status = "http_error"


class ProviderTimeoutError(ProviderError):
    status = "timeout"


class ProviderHttpError(ProviderError):
    """`http_status` is the server's, or 0 where there was none. `retry_after_s`: the server said when to come back."""

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


class LabelStoreError(MemsiftError):
    title = "Labels"


class NewerStoreError(LabelStoreError):
    pass


class ExchangeError(MemsiftError):
    title = "Import"


class TuningError(MemsiftError):
    title = "Tuning"
