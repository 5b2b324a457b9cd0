from io import BytesIO
from typing import TypeVar

from client import AuthenticatedClient, Client
from client.api.auth import get_current_account, login, register
from client.api.friends import accept_friend_request, send_friend_request
from client.api.posts import create_post, get_post, get_post_image, list_posts
from client.api.profiles import delete_account, get_profile, update_profile
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
from scenario import ErrorResponse, run_scenario

Body = TypeVar("Body")


def unwrap(response: Response[ApiError | Body]) -> Body:
    """Returns the body of a response. Raises ErrorResponse if its status is an error."""
    parsed = response.parsed
    if isinstance(parsed, ApiError):
        problems = [(problem.in_.value, problem.field, problem.code) for problem in parsed.errors or []]
        raise ErrorResponse(response.status_code, parsed.code, parsed.message, problems)
    assert parsed is not None, response
    return parsed


class ScenarioClient:
    def __init__(self, base: str, token: str | None) -> None:
        self.client = Client(base) if token is None else AuthenticatedClient(base, token)

    def register(self, name: str, username: str, email: str, password: str) -> int:
        return unwrap(register.sync_detailed(client=self.client, body=Registration(name, username, email, password))).id

    def login(self, email: str, password: str) -> str:
        return unwrap(login.sync_detailed(client=self.client, body=Credentials(email, password))).token

    def own_email(self) -> str:
        return unwrap(get_current_account.sync_detailed(client=self.client)).email

    def go_private(self, picture: bytes) -> str | None:
        body = ProfileUpdate(private=True, image=File(BytesIO(picture), "picture.png", "image/png"))
        return unwrap(update_profile.sync_detailed(client=self.client, body=body)).profile_link

    def is_private(self, id: int) -> bool | None:
        private = unwrap(get_profile.sync_detailed(id, client=self.client)).private
        return None if isinstance(private, Unset) else private

    def delete_account(self, password: str) -> str:
        return unwrap(delete_account.sync_detailed(client=self.client, body=PasswordConfirmation(password))).message

    def create_post(self, key: str, title: str, text: str, image: bytes | None = None) -> Post:
        file = UNSET if image is None else File(BytesIO(image), "image.jpg", "image/jpeg")
        body = PostForm(title, text, file)
        return unwrap(create_post.sync_detailed(client=self.client, body=body, idempotency_key=key))

    def get_post(self, id: int) -> PostDetail:
        return unwrap(get_post.sync_detailed(id, client=self.client))

    def list_posts(self, limit: int, cursor: str | None = None) -> tuple[list[Post], str]:
        response = list_posts.sync_detailed(client=self.client, limit=limit, cursor=cursor or UNSET)
        return unwrap(response), response.headers.get("link", "")

    def download_image(self, filename: str) -> bytes:
        file: object = unwrap(get_post_image.sync_detailed(filename, client=self.client))
        assert isinstance(file, File)
        return file.payload.read()

    def send_friend_request(self, to: int) -> str:
        return unwrap(send_friend_request.sync_detailed(client=self.client, to=to)).message

    def accept_friend_request(self, sender: int) -> str:
        return unwrap(accept_friend_request.sync_detailed(client=self.client, from_=sender)).message


run_scenario(ScenarioClient)
