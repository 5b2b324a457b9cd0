"""Makes requests valid by the rules that the document states in descriptions, because no schema can express them."""

import unicodedata
from itertools import product

from users import User, Users

# The first bytes of a JPEG file. The service accepts any bytes after them that show no sign of metadata.
JPEG_SIGNATURE = b"\xff\xd8\xff"

# The fields of forms that contain text.
TEXT_FIELDS = ("name", "username", "email", "password", "current_password", "title", "text")


def correct_body(operation: str, body: dict, part_types: dict[str, str], user: User | None) -> None:
    """Changes a body that matches the schema so that it also follows the other rules."""
    if "username" in body:
        body["username"] = without_invisible_characters(body["username"])
    for name in ("name", "title", "text"):
        if name in body:
            body[name] = with_a_visible_character(body[name])
    if operation == "register":
        body["password"] = strong_password(body["username"], body["email"])
    if operation == "deleteAccount":
        body["password"] = user.password
    if operation == "updateProfile":
        correct_passwords(body, user)
    if "image" in body:
        # An image and `remove_image` exclude each other.
        body.pop("remove_image", None)
        part_types["image"] = "image/jpeg"
        generated = body["image"]
        body["image"] = JPEG_SIGNATURE + (generated.encode() if isinstance(generated, str) else generated)
    if operation in ("updateProfile", "editPost"):
        ensure_change(body)


def correct_ids(operation: str, query: dict, users: Users) -> None:
    """Replaces ids that a user may not send: friend requests to oneself, and requests in another user's name."""
    if operation == "createRelationship":
        query["me"] = users.main.id
    for name in ("to", "them"):
        if operation in ("sendFriendRequest", "createRelationship") and query.get(name) == users.main.id:
            query[name] = users.other.id


def correct_cursor(query: dict | None) -> None:
    """Replaces a generated cursor with a valid one, which excludes an offset."""
    if query and "cursor" in query:
        query["cursor"] = "MjAyNi0wMS0zMVQwOTozMDowNS4xMThaIDQy"
        query.pop("offset", None)


def correct_passwords(body: dict, user: User) -> None:
    """Makes the passwords of a profile update valid: a new one by the policy, and the current one."""
    if "password" in body:
        # The policy applies to the resulting username and email.
        username, email = body.get("username", user.username), body.get("email", user.email)
        body["password"] = strong_password(username, email)
        body["current_password"] = user.password
    if "current_password" in body:
        body["current_password"] = user.password


def ensure_change(body: dict) -> None:
    """Adds a change to a form that contains none, because it would be refused."""
    if not body.keys() - {"current_password", "remove_image"}:
        body["remove_image"] = True


def is_visible(character: str) -> bool:
    """Returns whether a character is visible in any case: ASCII, or a letter or digit of a category without blank ones."""
    return "!" <= character <= "~" or unicodedata.category(character) in ("Lu", "Ll", "Nd")


def without_invisible_characters(username: str) -> str:
    """Replaces the characters that may be whitespace or invisible, most of which the pattern does not exclude."""
    return "".join(character if is_visible(character) else "x" for character in username)


def with_a_visible_character(text: str) -> str:
    """Replaces NUL, and the first character of a text in which no ASCII character is visible: all others may be invisible."""
    text = text.replace("\0", "x")
    return text if any("!" <= character <= "~" for character in text) else "x" + text[1:]


def strong_password(username: str, email: str) -> str:
    """Returns a password that follows the policy."""
    local_part = email.strip().split("@")[0]
    for letter, digit, sign in product("bdkmpw", "2479", "#?&="):
        password = f"{letter}{letter.upper()}{digit}{sign}" * 3
        if not any(fold(part) in fold(password) for part in (username, local_part)):
            return password
    raise AssertionError(f"no password for {username!r} and {email!r}")


def fold(text: str) -> str:
    """Returns the text without differences in case and compatibility, which the password policy ignores."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower().upper())
