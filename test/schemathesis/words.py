"""What the document says in words, where a schema cannot say it: requests that are meant to be valid are made to obey."""

import unicodedata
from itertools import product

from people import Cast, Person

# How an image of each type begins. Signatures are compared with the declared type; what follows them is not looked at.
SIGNATURES = {
    "image/jpeg": b"\xff\xd8\xff",
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/apng": b"\x89PNG\r\n\x1a\n",
    "image/gif": b"GIF89a",
    "image/webp": b"RIFF\0\0\0\0WEBP",
    "image/avif": b"\0\0\0\x10ftypavif\0\0\0\0",
    # It declares nothing, and so any signature will do.
    "application/octet-stream": b"GIF87a",
}

# The fields of forms that hold any text.
TEXTS = ("name", "username", "email", "password", "current_password", "title", "text")


def obey(operation: str, body: dict, part_types: dict[str, str], person: Person | None) -> None:
    """Changes a body that fits the schema so that it fits the words too."""
    if "username" in body:
        body["username"] = without_invisible_characters(body["username"])
    if operation == "register":
        body["password"] = strong(body["password"], body["username"], body["email"])
    if operation == "deleteAccount":
        body["password"] = person.password
    if operation == "updateProfile":
        obey_profile(body, person)
    if "image" in body:
        # One of the two, as the document says.
        body.pop("remove_image", None)
        declared = part_types.setdefault("image", "image/jpeg")
        body["image"] = SIGNATURES[declared] + bytes_of(body["image"])
    if operation in ("updateProfile", "editPost"):
        obey_change(body)


def obey_about_ids(operation: str, query: dict, cast: Cast) -> None:
    """Nobody asks for their own friendship, or in the name of others."""
    if operation == "createRelationship":
        query["me"] = cast.caller().id
    for name in ("to", "them"):
        if operation in ("sendFriendRequest", "createRelationship") and query.get(name) == cast.caller().id:
            query[name] = cast.somebody_else().id


def bytes_of(generated: str | bytes) -> bytes:
    return generated.encode() if isinstance(generated, str) else generated


def obey_profile(body: dict, person: Person) -> None:
    if "password" in body:
        # It takes the password that holds, and the policy looks at the account as it will be.
        username, email = body.get("username", person.username), body.get("email", person.email)
        body["password"] = strong(body["password"], username, email)
        body["current_password"] = person.password
    if "current_password" in body:
        body["current_password"] = person.password


def obey_change(body: dict) -> None:
    """A form that changes nothing is refused."""
    if not body.keys() - {"current_password", "remove_image"}:
        body["remove_image"] = True


# Khitan and Egyptian fillers, and the musical null notehead.
BLANK_LETTERS = "\U00013441\U00013442\U00016fe4\U0001d159"


def is_invisible(character: str) -> bool:
    # The block of tags and variation selectors is ignored by default, unassigned code points included.
    return (
        unicodedata.category(character) == "Cf"
        or 0xE0000 <= ord(character) <= 0xE0FFF
        or character in BLANK_LETTERS
    )


def without_invisible_characters(username: str) -> str:
    """The pattern lists those of the Basic Multilingual Plane, the description names the others."""
    return "".join("x" if is_invisible(character) else character for character in username)


def strong(password: str, username: str, email: str) -> str:
    """A password by the policy, with as much of the given one as the policy lets stand."""
    local_part = email.strip().split("@")[0]
    # Neither letters and digits that could make a sequence or a common password, nor any character twice running.
    rest = "".join(
        character
        for before, character in zip(" " + password, password)
        if character != before and not character.isalnum()
    )
    for letter, digit, sign in product("bdkmpw", "2479", "#?&="):
        core = f"{letter}{letter.upper()}{digit}{sign}" * 3
        for candidate in (core + rest[: 128 - len(core)], core):
            if not any(fold(part) in fold(candidate) for part in (username, local_part)):
                return candidate
    raise AssertionError(f"no password for {username!r} and {email!r}")


def fold(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower().upper())
