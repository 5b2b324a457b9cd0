from io import BytesIO
from typing import TypeVar

from client import AuthenticatedClient, Client
from client.api.auth import get_current_account, login, register
from client.api.friends import accept_friend_request, send_friend_request
from client.api.posts import create_post, get_post, get_post_image, like_post, list_posts
from client.api.profiles import delete_account, get_profile, get_profile_image, update_profile
from client.models import (
    ApiError,
    Credentials,
    PasswordConfirmation,
    Post,
    PostDetail,
    PostForm,
    ProfileUpdate,
    Registration,
)
from client.types import UNSET, File, Response, Unset
from scenario import Refused, play

Body = TypeVar("Body")


def given(response: Response[ApiError | Body]) -> Body:
    """What a function `sync_detailed` answers, unless it is an error."""
    parsed = response.parsed
    if isinstance(parsed, ApiError):
        problems = [(each.in_.value, each.field, each.code) for each in parsed.errors or []]
        raise Refused(response.status_code, parsed.code, parsed.message, problems)
    assert parsed is not None, response
    return parsed


def bytes_of(file: object) -> bytes:
    assert isinstance(file, File)
    return file.payload.read()


class Person:
    def __init__(self, base: str, token: str | None) -> None:
        self.client = Client(base) if token is None else AuthenticatedClient(base, token)

    def register(self, name: str, username: str, email: str, password: str) -> int:
        return given(register.sync_detailed(client=self.client, body=Registration(name, username, email, password))).id

    def login(self, email: str, password: str) -> str:
        return given(login.sync_detailed(client=self.client, body=Credentials(email, password))).token

    def own_email(self) -> str:
        return given(get_current_account.sync_detailed(client=self.client)).email

    def change_picture(self, image: bytes) -> str | None:
        body = ProfileUpdate(image=File(BytesIO(image), "picture.png", "image/png"))
        return given(update_profile.sync_detailed(client=self.client, body=body)).profile_link

    def go_private(self) -> bool:
        return given(update_profile.sync_detailed(client=self.client, body=ProfileUpdate(private=True))).private

    def is_private(self, id: int) -> bool | None:
        private = given(get_profile.sync_detailed(id, client=self.client)).private
        return None if isinstance(private, Unset) else private

    def download_picture(self, filename: str) -> bytes:
        return bytes_of(given(get_profile_image.sync_detailed(filename, client=self.client)))

    def delete_account(self, password: str) -> str:
        return given(delete_account.sync_detailed(client=self.client, body=PasswordConfirmation(password))).message

    def create_post(self, key: str, title: str, text: str, image: bytes | None = None) -> Post:
        file = UNSET if image is None else File(BytesIO(image), "image.jpg", "image/jpeg")
        body = PostForm(title, text, file)
        return given(create_post.sync_detailed(client=self.client, body=body, idempotency_key=key))

    def get_post(self, id: int) -> PostDetail:
        return given(get_post.sync_detailed(id, client=self.client))

    def list_posts(self, limit: int, offset: int) -> list[Post]:
        return given(list_posts.sync_detailed(client=self.client, limit=limit, offset=offset))

    def like_post(self, id: int) -> str:
        return given(like_post.sync_detailed(client=self.client, id=id)).message

    def download_image(self, filename: str) -> bytes:
        return bytes_of(given(get_post_image.sync_detailed(filename, client=self.client)))

    def send_friend_request(self, to: int) -> str:
        return given(send_friend_request.sync_detailed(client=self.client, to=to)).message

    def accept_friend_request(self, sender: int) -> str:
        return given(accept_friend_request.sync_detailed(client=self.client, from_=sender)).message


play(Person)
