from collections.abc import Callable, Sequence
from typing import TypeVar

from openapi_client import (
    ApiClient,
    ApiError,
    ApiException,
    AuthApi,
    Configuration,
    Credentials,
    FriendsApi,
    PasswordConfirmation,
    Post,
    PostDetail,
    PostsApi,
    ProfilesApi,
    Registration,
)
from scenario import ErrorResponse, run_scenario

Body = TypeVar("Body")


def unwrap(send: Callable[[], Body]) -> Body:
    """Returns the body of a response. Raises ErrorResponse if its status is an error."""
    try:
        return send()
    except ApiException as exception:
        error = exception.data
        assert isinstance(error, ApiError), exception
        problems = [(problem.var_in, problem.var_field, problem.code) for problem in error.errors or []]
        raise ErrorResponse(int(exception.status or 0), error.code, error.message, problems) from exception


class ScenarioClient:
    def __init__(self, base: str, token: str | None) -> None:
        client = ApiClient(Configuration(host=base, access_token=token))
        self.auth = AuthApi(client)
        self.profiles = ProfilesApi(client)
        self.posts = PostsApi(client)
        self.friends = FriendsApi(client)

    def register(self, name: str, username: str, email: str, password: str) -> int:
        registration = Registration(name=name, username=username, email=email, password=password)
        return unwrap(lambda: self.auth.register(registration)).id

    def login(self, email: str, password: str) -> str:
        return unwrap(lambda: self.auth.login(Credentials(email=email, password=password))).token

    def own_email(self) -> str:
        return unwrap(self.auth.get_current_account).email

    def go_private(self, picture: bytes) -> str | None:
        image = ("picture.png", picture)
        return unwrap(lambda: self.profiles.update_profile(private=True, image=image)).profile_link

    def is_private(self, id: int) -> bool | None:
        return unwrap(lambda: self.profiles.get_profile(id)).private

    def delete_account(self, password: str) -> str:
        return unwrap(lambda: self.profiles.delete_account(PasswordConfirmation(password=password))).message

    def create_post(self, key: str, title: str, text: str, image: bytes | None = None) -> Post:
        file = None if image is None else ("image.jpg", image)
        return unwrap(lambda: self.posts.create_post(title, text, idempotency_key=key, image=file))

    def get_post(self, id: int) -> PostDetail:
        return unwrap(lambda: self.posts.get_post(id))

    def list_posts(self, limit: int, cursor: str | None = None) -> tuple[Sequence[Post], str]:
        response = unwrap(lambda: self.posts.list_posts_with_http_info(limit=limit, cursor=cursor))
        return response.data, (response.headers or {}).get("link", "")

    def download_image(self, filename: str) -> bytes:
        return bytes(unwrap(lambda: self.posts.get_post_image(filename)))

    def send_friend_request(self, to: int) -> str:
        return unwrap(lambda: self.friends.send_friend_request(to)).message

    def accept_friend_request(self, sender: int) -> str:
        return unwrap(lambda: self.friends.accept_friend_request(sender)).message


run_scenario(ScenarioClient)
