import java.io.File;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AuthApi;
import org.openapitools.client.api.FriendsApi;
import org.openapitools.client.api.PostsApi;
import org.openapitools.client.api.ProfilesApi;
import org.openapitools.client.model.ApiError;
import org.openapitools.client.model.Credentials;
import org.openapitools.client.model.PasswordConfirmation;
import org.openapitools.client.model.Post;
import org.openapitools.client.model.Registration;

/** Runs the scenario with three users. Prints the name of each step after its success. */
public final class Scenario {
  private static final String PASSWORD = "Quiet-Harbour-27!";

  private static final String BASE = System.getenv("BASE_URL");

  /** The client of one user, or an anonymous client. */
  private record Client(AuthApi auth, ProfilesApi profiles, PostsApi posts, FriendsApi friends) {
    /** Returns a client that sends the token, unless it is null. */
    static Client with(String token) {
      ApiClient api = new ApiClient().setBasePath(BASE);
      if (token != null) api.setBearerToken(token);
      return new Client(new AuthApi(api), new ProfilesApi(api), new PostsApi(api), new FriendsApi(api));
    }

    Post createPost(String key, String title, String text, File image) throws ApiException {
      return posts.createPost(title, text, key, image);
    }

    /** Makes the account private, and sets its picture. */
    void goPrivate(File picture) throws ApiException {
      var profile = profiles.updateProfile(null, null, null, null, null, true, picture, null);
      expectEqual(profile.getProfileLink().isEmpty(), false);
    }
  }

  /** Returns the cursor of the next page from the header Link. */
  private static String cursorIn(String link) {
    return link.replaceFirst(".*[?&]cursor=([^&>]+).*", "$1");
  }

  private interface Request {
    Object send() throws ApiException;
  }

  /** Expects a request to fail with this status, and returns the error. */
  private static ApiError expectError(int status, Request request) throws IOException {
    try {
      throw new AssertionError(request.send() + " instead of status " + status);
    } catch (ApiException exception) {
      expectEqual(exception.getCode(), status);
      ApiError error = ApiError.fromJson(exception.getResponseBody());
      expectEqual(error.getMessage().isEmpty(), false);
      return error;
    }
  }

  private static void expectEqual(Object found, Object expected) {
    if (!Objects.equals(found, expected)) throw new AssertionError(found + " instead of " + expected);
  }

  private static String fileNameIn(String link) {
    return link.substring(link.lastIndexOf('/') + 1);
  }

  public static void main(String[] arguments) throws ApiException, IOException {
    File picture = Path.of(System.getenv("PICTURE")).toFile();
    File image = Path.of(System.getenv("IMAGE")).toFile();
    String suffix = new BigInteger(32, new SecureRandom()).toString(16);
    Client anonymous = Client.with(null);

    long adaId = register(anonymous, "ada", suffix);
    long benId = register(anonymous, "ben", suffix);
    long cleoId = register(anonymous, "cleo", suffix);
    System.out.println("register");

    Client ada = login(anonymous, "ada", suffix);
    Client ben = login(anonymous, "ben", suffix);
    Client cleo = login(anonymous, "cleo", suffix);
    expectEqual(ada.auth.getCurrentAccount().getEmail(), emailOf("ada", suffix));
    System.out.println("log in");

    String key = UUID.randomUUID().toString();
    Post post = ada.createPost(key, "First", "With an image.", image);
    expectEqual(post.getTitle(), "First");
    expectEqual(ada.createPost(key, "First", "With an image.", image).getId(), post.getId());
    expectError(422, () -> ada.createPost(key, "Another", "With the same key.", null));
    System.out.println("post with an image");

    ben.friends.sendFriendRequest(adaId);
    ada.friends.acceptFriendRequest(benId);
    System.out.println("befriend");

    ada.goPrivate(picture);
    expectError(404, () -> cleo.posts.getPost(post.getId()));
    expectError(404, () -> cleo.posts.getPostImage(fileNameIn(post.getImage()), null));
    expectEqual(cleo.profiles.getProfile(adaId).getPrivate(), null);
    expectEqual(ben.profiles.getProfile(adaId).getPrivate(), true);
    System.out.println("go private");

    Post second = ada.createPost(UUID.randomUUID().toString(), "Second", "None.", null);
    Post third = ada.createPost(UUID.randomUUID().toString(), "Third", "None.", null);
    var response = ben.posts.listPostsWithHttpInfo(2, null, null);
    List<Post> page = response.getData();
    expectEqual(page.size(), 2);
    String cursor = cursorIn(response.getHeaders().get("link").get(0));
    expectEqual(
        Stream.concat(page.stream(), ben.posts.listPosts(2, null, cursor).stream()).limit(3).map(Post::getId).toList(),
        List.of(third.getId(), second.getId(), post.getId()));
    System.out.println("page through the feed");

    File downloaded = ben.posts.getPostImage(fileNameIn(post.getImage()), null);
    expectEqual(Arrays.equals(Files.readAllBytes(downloaded.toPath()), Files.readAllBytes(image.toPath())), true);
    Files.delete(downloaded.toPath());
    System.out.println("download an image");

    Registration weak = new Registration().name("Dan").username("dan_" + suffix);
    weak.email("dan@mailinator.com").password("There is no digit here.");
    ApiError error = expectError(400, () -> anonymous.auth.register(weak));
    expectEqual(
        error.getErrors().stream()
            .map(problem -> problem.getIn() + " " + problem.getField() + " " + problem.getCode())
            .sorted()
            .toList(),
        List.of("body email disposable_email", "body password needs_digit"));
    System.out.println("read the problems of a 400");

    expectError(401, () -> Client.with(null).auth.getCurrentAccount());
    Credentials wrong = new Credentials().email(emailOf("ada", suffix)).password("something else");
    expectError(401, () -> anonymous.auth.login(wrong));
    ApiError wrongPassword =
        expectError(401, () -> ada.profiles.deleteAccount(new PasswordConfirmation().password("something else")));
    expectEqual(wrongPassword.getCode(), "invalid_password");
    expectError(409, () -> ben.friends.sendFriendRequest(adaId));
    expectError(404, () -> ben.friends.acceptFriendRequest(cleoId));
    System.out.println("be refused");

    for (Client client : List.of(ada, ben, cleo)) {
      client.profiles.deleteAccount(new PasswordConfirmation().password(PASSWORD));
    }
    expectError(401, ada.auth::getCurrentAccount);
    System.out.println("delete the accounts");
    // The HTTP client's threads would keep the process alive for a minute.
    System.exit(0);
  }

  private static String emailOf(String name, String suffix) {
    return name + "." + suffix + "@example.org";
  }

  private static long register(Client anonymous, String name, String suffix) throws ApiException {
    Registration registration = new Registration().name(name).username(name + "_" + suffix);
    registration.email(emailOf(name, suffix)).password(PASSWORD);
    return anonymous.auth.register(registration).getId();
  }

  private static Client login(Client anonymous, String name, String suffix) throws ApiException {
    Credentials credentials = new Credentials().email(emailOf(name, suffix)).password(PASSWORD);
    return Client.with(anonymous.auth.login(credentials).getToken());
  }
}
