"""Where files lie on Linux, macOS and Windows, and how the client names the folders of transcripts there."""

import builtins
import ntpath
import os
import posixpath
from pathlib import Path
from types import ModuleType
from typing import Any

import engine.paths
from engine.paths import project_slug


def paths_on(name: str, path: ModuleType) -> Any:
    """`engine.paths` as it runs on another system: its own source, over an `os` with that system's rules for paths."""
    system = ModuleType("os")
    system.__dict__.update(vars(os), name=name, path=path, sep=path.sep)

    def imported(wanted: str, *given: Any) -> ModuleType:
        return system if wanted == "os" else builtins.__import__(wanted, *given)

    module = ModuleType("paths_elsewhere")
    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": imported}
    source = Path(engine.paths.__file__).read_text(encoding="utf-8")
    exec(compile(source, "paths", "exec", dont_inherit=True), module.__dict__)
    return module


WINDOWS = paths_on("nt", ntpath)
MAC = paths_on("posix", posixpath)
ANN = {
    "USERPROFILE": r"C:\Users\ann",
    "HOME": "/c/Users/ann",
    "APPDATA": r"C:\Users\ann\AppData\Roaming",
    "LOCALAPPDATA": r"D:\Local",
}


def places(paths: Any, environ: dict[str, str]) -> list[str]:
    """The folders of settings, labels, index and log, and the client's own."""
    files = (paths.config_file(environ), paths.labels_file(environ))
    return [*files, paths.cache_dir(environ), paths.state_home(environ), paths.claude_dir(environ)]


def test_on_linux_and_macos_they_lie_in_hidden_folders_of_an_absolute_home_folder() -> None:
    for paths, home in ((engine.paths, "/home/ann"), (MAC, "/Users/ann")):
        assert places(paths, {"HOME": home}) == [
            f"{home}/.config/memsift/config.toml",
            f"{home}/.local/share/memsift/labels.db",
            f"{home}/.cache/memsift",
            f"{home}/.local/state/memsift",
            f"{home}/.claude",
        ]
    import pwd

    home = pwd.getpwuid(os.getuid()).pw_dir
    for given in ("relative", "", "."):
        assert places(engine.paths, {"HOME": given}) == places(engine.paths, {"HOME": home})


def test_on_windows_they_lie_in_appdata_or_in_an_absolute_xdg_folder() -> None:
    assert places(WINDOWS, ANN) == [
        *(r"C:\Users\ann\AppData\Roaming\memsift\config.toml", r"D:\Local\memsift\data\labels.db"),
        *(r"D:\Local\memsift\cache", r"D:\Local\memsift\state", r"C:\Users\ann\.claude"),
    ]
    assert places(WINDOWS, {"USERPROFILE": r"E:\bo"})[:2] == [
        r"E:\bo\AppData\Roaming\memsift\config.toml",
        r"E:\bo\AppData\Local\memsift\data\labels.db",
    ]
    for given, expected in [
        (r"D:\config", r"D:\config\memsift\config.toml"),
        (r"\\server\share", r"\\server\share\memsift\config.toml"),
        ("config", r"C:\Users\ann\AppData\Roaming\memsift\config.toml"),
        ("D:config", r"C:\Users\ann\AppData\Roaming\memsift\config.toml"),
    ]:
        assert WINDOWS.config_file({**ANN, "XDG_CONFIG_HOME": given}) == expected, given


def test_on_windows_the_folder_of_a_root_is_called_after_its_project_whatever_the_slashes() -> None:
    for root, name in [
        (r"C:\Users\ann\My Shop\.claude\memory", "My-Shop-"),
        (r"C:\Users\ann/My Shop/.claude/memory", "My-Shop-"),
        (r"\\server\share\shop\.claude\memory", "shop-"),
        ("C:\\", "C--"),
    ]:
        key = WINDOWS.root_key(root)
        assert key.startswith(name), root
        assert not set(key) & set('\\/:*?"<>|'), root
    assert WINDOWS.root_key(r"C:\a\b") == WINDOWS.root_key("C:/a/b/") != WINDOWS.root_key(r"D:\a\b")


def test_the_folder_of_transcripts_is_the_path_with_dashes_and_keeps_its_case() -> None:
    """Drive letters, backslashes and accents become dashes, as in the client; a long name ends in its hash."""
    for cwd, slug in [
        (r"C:\Users\ann\my.shop", "C--Users-ann-my-shop"),
        ("c:\\", "c--"),
        (r"\\server\share\shop", "--server-share-shop"),
        ("/Users/Ann/Shop", "-Users-Ann-Shop"),
        ("/private/tmp/x", "-private-tmp-x"),
        ("/Users/ann/cafe\u0301", "-Users-ann-cafe-"),
        ("/Users/ann/caf\u00e9", "-Users-ann-caf-"),
        ("/a😀b", "-a--b"),
        ("/" + "a" * 199, "-" + "a" * 199),
        ("/opt/" + "l" * 120 + "/日😀" + "m" * 100, f"-opt-{'l' * 120}----{'m' * 71}-2g6hbw"),
    ]:
        assert project_slug(cwd) == slug, cwd


def test_on_windows_transcripts_lie_below_the_clients_folder() -> None:
    folder = WINDOWS.transcripts_dir(r"C:\Users\ann\shop", ANN)
    assert folder == r"C:\Users\ann\.claude\projects\C--Users-ann-shop"
    assert WINDOWS.is_in_place(folder + r"\1.jsonl", ANN)
    assert not WINDOWS.is_in_place(r"C:\Users\ann\.claude\projects\..\1.jsonl", ANN)
    assert not WINDOWS.is_in_place(r"D:\Users\ann\.claude\projects\x\1.jsonl", ANN)
