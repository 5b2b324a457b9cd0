"""The scenario that every generated Python client runs."""

import os
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qs, urlsplit

PASSWORD = "Quiet-Harbour-27!"


class ErrorResponse(Exception):
    """A response with an error status, and its problems as (in, field, code)."""

    def __init__(self, status: int, code: str, message: str, problems: list[tuple[str, str, str]]) -> None:
        super().__init__(f"{status} {code} {message} {problems}")
        self.status = status
        self.code = code
        self.message = message
        self.problems = problems


class Post(Protocol):
    @property
    def id(self) -> int: ...
    @property
    def title(self) -> str: ...
    @property
    def image(self) -> str | None: ...


class Client(Protocol):
    """The operations of the scenario. Each raises ErrorResponse if the response has an error status."""

    def register(self, name: str, username: str, email: str, password: str) -> int: ...
    def login(self, email: str, password: str) -> str: ...
    def own_email(self) -> str: ...
    def go_private(self, picture: bytes) -> str | None:
        """Makes the account private, and sets its picture. Returns the link of the picture."""
        ...

    def is_private(self, id: int) -> bool | None: ...
    def delete_account(self, password: str) -> str: ...
    def create_post(self, key: str, title: str, text: str, image: bytes | None = None) -> Post: ...
    def get_post(self, id: int) -> Post: ...
    def list_posts(self, limit: int, cursor: str | None = None) -> tuple[Sequence[Post], str]:
        """Returns a page, and the header Link."""
        ...

    def download_image(self, filename: str) -> bytes: ...
    def send_friend_request(self, to: int) -> str: ...
    def accept_friend_request(self, sender: int) -> str: ...


def expect_error(status: int, send: Callable[[], object]) -> ErrorResponse:
    try:
        result = send()
    except ErrorResponse as error:
        assert error.status == status, error
        assert error.message
        return error
    raise AssertionError(f"{result} instead of status {status}")


def file_name_in(link: str | None) -> str:
    assert link is not None
    return link.rsplit("/", 1)[-1]


def cursor_in(link: str) -> str:
    """Returns the cursor of the next page."""
    next_page = link.removeprefix("<").removesuffix('>; rel="next"')
    return parse_qs(urlsplit(next_page).query)["cursor"][0]


def run_scenario(connect: Callable[[str, str | None], Client]) -> None:
    """Runs the scenario with three users. Prints the name of each step after its success."""
    base = os.environ["BASE_URL"]
    picture = Path(os.environ["PICTURE"]).read_bytes()
    image = Path(os.environ["IMAGE"]).read_bytes()
    suffix = secrets.token_hex(4)
    anonymous = connect(base, None)

    def email_of(name: str) -> str:
        return f"{name}.{suffix}@example.org"

    def register(name: str) -> int:
        return anonymous.register(name, f"{name}_{suffix}", email_of(name), PASSWORD)

    ada_id, ben_id, cleo_id = register("ada"), register("ben"), register("cleo")
    print("register")

    def login(name: str) -> Client:
        return connect(base, anonymous.login(email_of(name), PASSWORD))

    ada, ben, cleo = login("ada"), login("ben"), login("cleo")
    assert ada.own_email() == email_of("ada")
    print("log in")

    key = secrets.token_hex(16)
    post = ada.create_post(key, "First", "With an image.", image)
    assert post.title == "First"
    assert ada.create_post(key, "First", "With an image.", image).id == post.id
    expect_error(422, lambda: ada.create_post(key, "Another", "With the same key."))
    print("post with an image")

    assert ben.send_friend_request(ada_id)
    assert ada.accept_friend_request(ben_id)
    print("befriend")

    assert ada.go_private(picture)
    expect_error(404, lambda: cleo.get_post(post.id))
    expect_error(404, lambda: cleo.download_image(file_name_in(post.image)))
    assert cleo.is_private(ada_id) is None
    assert ben.is_private(ada_id) is True
    print("go private")

    others = [ada.create_post(secrets.token_hex(16), title, "None.").id for title in ("Second", "Third")]
    first, link = ben.list_posts(limit=2)
    second, _ = ben.list_posts(limit=2, cursor=cursor_in(link))
    assert len(first) == 2
    assert [listed.id for listed in [*first, *second]][:3] == [*reversed(others), post.id]
    print("page through the feed")

    assert ben.download_image(file_name_in(post.image)) == image
    print("download an image")

    weak = expect_error(
        400, lambda: anonymous.register("Dan", f"dan_{suffix}", "dan@mailinator.com", "There is no digit here.")
    )
    assert sorted(weak.problems) == [("body", "email", "disposable_email"), ("body", "password", "needs_digit")], weak
    print("read the problems of a 400")

    # A client may keep the cookie of a login.
    expect_error(401, connect(base, None).own_email)
    expect_error(401, lambda: anonymous.login(email_of("ada"), "something else"))
    assert expect_error(401, lambda: ada.delete_account("something else")).code == "invalid_password"
    expect_error(409, lambda: ben.send_friend_request(ada_id))
    expect_error(404, lambda: ben.accept_friend_request(cleo_id))
    print("be refused")

    for client in (ada, ben, cleo):
        assert client.delete_account(PASSWORD)
    expect_error(401, ada.own_email)
    print("delete the accounts")
