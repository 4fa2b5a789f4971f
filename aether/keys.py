"""The key of a model server, kept in the system keyring where there is one.

Apart from `settings.py` because `keyring` is foreign and slow to import: only who stored a key
there pays for it. In `settings.toml` stands a mark in its place.
"""

from __future__ import annotations

from pathlib import Path

IN_KEYRING = "in the system keyring"  # what settings.toml says instead of the key
_SERVICE = "aether"


def keep_key(home: Path, key: str) -> bool:
    """Put a key into the system keyring; False where this machine has none that works."""
    import keyring
    from keyring.errors import KeyringError

    try:
        keyring.set_password(_SERVICE, _name(home), key)
        return keyring.get_password(_SERVICE, _name(home)) == key
    except (KeyringError, RuntimeError):  # backends raise RuntimeError where no desktop runs
        return False


def read_key(home: Path) -> str:
    """The key from the system keyring; empty where it is not there any more."""
    import keyring
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(_SERVICE, _name(home)) or ""
    except (KeyringError, RuntimeError):
        return ""


def forget_key(home: Path) -> None:
    """Take the key out of the system keyring, where there is one."""
    import keyring
    from keyring.errors import KeyringError

    try:
        if keyring.get_password(_SERVICE, _name(home)) is not None:
            keyring.delete_password(_SERVICE, _name(home))
    except (KeyringError, RuntimeError):
        return


def _name(home: Path) -> str:
    """One entry a user folder."""
    return f"llm.api_key {home.resolve()}"
