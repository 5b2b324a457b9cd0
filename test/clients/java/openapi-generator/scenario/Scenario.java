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

/** What people do with a client. It prints the name of each step that has gone well. */
public final class Scenario {
  private static final String PASSWORD = "Quiet-Harbour-27!";

  private static final String BASE = System.getenv("BASE_URL");

  /** One person, or nobody if there is no token. */
  private record Person(AuthApi auth, ProfilesApi profiles, PostsApi posts, FriendsApi friends) {
    static Person with(String token) {
      ApiClient client = new ApiClient().setBasePath(BASE);
      if (token != null) client.setBearerToken(token);
      return new Person(new AuthApi(client), new ProfilesApi(client), new PostsApi(client), new FriendsApi(client));
    }

    Post post(String key, String title, String text, File image) throws ApiException {
      return posts.createPost(title, text, key, image);
    }

    void changePrivate() throws ApiException {
      var profile = profiles.updateProfile(null, null, null, null, null, true, null, null);
      same(profile.getPrivate(), true);
    }

    String changePicture(File image) throws ApiException {
      return profiles.updateProfile(null, null, null, null, null, null, image, null).getProfileLink();
    }
  }

  private interface Ask {
    Object ask() throws ApiException;
  }

  private static ApiError refused(int status, Ask ask) throws IOException {
    try {
      throw new AssertionError(ask.ask() + " where " + status + " is due");
    } catch (ApiException refusal) {
      same(refusal.getCode(), status);
      ApiError error = ApiError.fromJson(refusal.getResponseBody());
      same(error.getMessage().isEmpty(), false);
      return error;
    }
  }

  private static void same(Object found, Object wanted) {
    if (!Objects.equals(found, wanted)) throw new AssertionError(found + " where " + wanted + " is due");
  }

  private static String fileNameIn(String link) {
    return link.substring(link.lastIndexOf('/') + 1);
  }

  private static void sameBytes(File found, File wanted) throws IOException {
    same(Arrays.equals(Files.readAllBytes(found.toPath()), Files.readAllBytes(wanted.toPath())), true);
    Files.delete(found.toPath());
  }

  public static void main(String[] arguments) throws ApiException, IOException {
    File picture = Path.of(System.getenv("PICTURE")).toFile();
    File image = Path.of(System.getenv("IMAGE")).toFile();
    String suffix = new BigInteger(32, new SecureRandom()).toString(16);
    Person nobody = Person.with(null);

    long adaId = register(nobody, "ada", suffix);
    long benId = register(nobody, "ben", suffix);
    long cleoId = register(nobody, "cleo", suffix);
    System.out.println("register");

    Person ada = login(nobody, "ada", suffix);
    Person ben = login(nobody, "ben", suffix);
    Person cleo = login(nobody, "cleo", suffix);
    same(ada.auth.getCurrentAccount().getEmail(), emailOf("ada", suffix));
    System.out.println("log in");

    String profileLink = ada.changePicture(picture);
    System.out.println("upload a picture");

    String key = UUID.randomUUID().toString();
    Post post = ada.post(key, "First", "With an image.", image);
    same(post.getTitle(), "First");
    same(ada.post(key, "First", "With an image.", image).getId(), post.getId());
    refused(422, () -> ada.post(key, "Another", "With the same key.", null));
    System.out.println("post with an image");

    ben.friends.sendFriendRequest(adaId);
    ada.friends.acceptFriendRequest(benId);
    System.out.println("befriend");

    ada.changePrivate();
    refused(404, () -> cleo.posts.getPost(post.getId()));
    refused(404, () -> cleo.posts.getPostImage(fileNameIn(post.getImage()), null));
    same(cleo.profiles.getProfile(adaId).getPrivate(), null);
    same(ben.profiles.getProfile(adaId).getPrivate(), true);
    System.out.println("go private");

    ben.posts.likePost(post.getId());
    var liked = ben.posts.getPost(post.getId());
    same(List.of(liked.getLikeCount(), liked.getLikedByMe()), List.of(1L, true));
    System.out.println("like");

    Post second = ada.post(UUID.randomUUID().toString(), "Second", "None.", null);
    Post third = ada.post(UUID.randomUUID().toString(), "Third", "None.", null);
    List<Post> page = ben.posts.listPosts(2, 0);
    same(page.size(), 2);
    same(
        Stream.concat(page.stream(), ben.posts.listPosts(2, 2).stream()).limit(3).map(Post::getId).toList(),
        List.of(third.getId(), second.getId(), post.getId()));
    System.out.println("page through the feed");

    sameBytes(ben.profiles.getProfileImage(fileNameIn(profileLink), null), picture);
    sameBytes(ben.posts.getPostImage(fileNameIn(post.getImage()), null), image);
    System.out.println("download images");

    Registration weak = new Registration().name("Dan").username("dan_" + suffix);
    weak.email("dan@mailinator.com").password("There is no digit here.");
    ApiError error = refused(400, () -> nobody.auth.register(weak));
    same(
        error.getErrors().stream()
            .map(problem -> problem.getIn() + " " + problem.getField() + " " + problem.getCode())
            .sorted()
            .toList(),
        List.of("body email disposable_email", "body password needs_digit"));
    System.out.println("read the problems of a 400");

    refused(401, () -> Person.with(null).auth.getCurrentAccount());
    Credentials wrong = new Credentials().email(emailOf("ada", suffix)).password("something else");
    refused(401, () -> nobody.auth.login(wrong));
    ApiError wrongPassword =
        refused(401, () -> ada.profiles.deleteAccount(new PasswordConfirmation().password("something else")));
    same(wrongPassword.getCode(), "invalid_password");
    refused(409, () -> ben.friends.sendFriendRequest(adaId));
    refused(404, () -> ben.friends.acceptFriendRequest(cleoId));
    System.out.println("be refused");

    for (Person person : List.of(ada, ben, cleo)) {
      person.profiles.deleteAccount(new PasswordConfirmation().password(PASSWORD));
    }
    refused(401, ada.auth::getCurrentAccount);
    System.out.println("delete the accounts");
    // The HTTP client's threads would keep the process alive for a minute.
    System.exit(0);
  }

  private static String emailOf(String name, String suffix) {
    return name + "." + suffix + "@example.org";
  }

  private static long register(Person nobody, String name, String suffix) throws ApiException {
    Registration registration = new Registration().name(name).username(name + "_" + suffix);
    registration.email(emailOf(name, suffix)).password(PASSWORD);
    return nobody.auth.register(registration).getId();
  }

  private static Person login(Person nobody, String name, String suffix) throws ApiException {
    Credentials credentials = new Credentials().email(emailOf(name, suffix)).password(PASSWORD);
    return Person.with(nobody.auth.login(credentials).getToken());
  }
}
