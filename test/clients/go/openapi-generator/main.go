// Runs the scenario with the client that openapi-generator generates.
package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"

	"clients/openapi-generator/client"
	"clients/scenario"
)

type scenarioClient struct {
	api *client.APIClient
	// ctx contains the token for the generated client.
	ctx context.Context
}

func connect(base, token string) scenario.Client {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: base}}
	ctx := context.Background()
	if token != "" {
		ctx = context.WithValue(ctx, client.ContextAccessToken, token)
	}
	return &scenarioClient{client.NewAPIClient(configuration), ctx}
}

// unwrap returns the body of a response, or its decoded error as a *scenario.ErrorResponse. It accepts the results of Execute.
func unwrap[Body any](body Body, response *http.Response, err error) (Body, error) {
	var failure *client.GenericOpenAPIError
	if !errors.As(err, &failure) {
		return body, err
	}
	apiError, ok := failure.Model().(client.ApiError)
	if !ok {
		return body, err
	}
	errorResponse := &scenario.ErrorResponse{Status: response.StatusCode, Code: apiError.Code, Message: apiError.Message}
	for _, problem := range apiError.Errors {
		errorResponse.Problems = append(errorResponse.Problems, problem.In+" "+problem.Field+" "+problem.Code)
	}
	return body, errorResponse
}

// field returns a function that returns one field of a body, or the error.
func field[Body, Value any](take func(*Body) Value) func(*Body, error) (Value, error) {
	return func(body *Body, err error) (Value, error) {
		if err != nil {
			var none Value
			return none, err
		}
		return take(body), nil
	}
}

var message = field((*client.Message).GetMessage)

func (c *scenarioClient) Register(name, username, email, password string) (int64, error) {
	registration := *client.NewRegistration(name, username, email, password)
	return field((*client.RegisteredAccount).GetId)(unwrap(c.api.AuthAPI.Register(c.ctx).Registration(registration).Execute()))
}

func (c *scenarioClient) Login(email, password string) (string, error) {
	credentials := *client.NewCredentials(email, password)
	return field((*client.SessionToken).GetToken)(unwrap(c.api.AuthAPI.Login(c.ctx).Credentials(credentials).Execute()))
}

func (c *scenarioClient) OwnEmail() (string, error) {
	return field((*client.Account).GetEmail)(unwrap(c.api.AuthAPI.GetCurrentAccount(c.ctx).Execute()))
}

func (c *scenarioClient) GoPrivate(picture scenario.File) (string, error) {
	file := scenario.Must(os.Open(picture.Path))
	defer file.Close()
	request := c.api.ProfilesAPI.UpdateProfile(c.ctx).Private(true).Image(file)
	return field((*client.FullProfile).GetProfileLink)(unwrap(request.Execute()))
}

func (c *scenarioClient) IsPrivate(id int64) (*bool, error) {
	private := func(profile *client.Profile) *bool { return profile.Private }
	return field(private)(unwrap(c.api.ProfilesAPI.GetProfile(c.ctx, id).Execute()))
}

func (c *scenarioClient) DeleteAccount(password string) (string, error) {
	confirmation := *client.NewPasswordConfirmation(password)
	return message(unwrap(c.api.ProfilesAPI.DeleteAccount(c.ctx).PasswordConfirmation(confirmation).Execute()))
}

func postOf(post *client.Post) scenario.Post {
	return scenario.Post{ID: post.Id, Title: post.Title, Image: post.GetImage()}
}

func (c *scenarioClient) CreatePost(key, title, text string, image *scenario.File) (scenario.Post, error) {
	request := c.api.PostsAPI.CreatePost(c.ctx).IdempotencyKey(key).Title(title).Text(text)
	if image != nil {
		file := scenario.Must(os.Open(image.Path))
		defer file.Close()
		request = request.Image(file)
	}
	return field(postOf)(unwrap(request.Execute()))
}

func (c *scenarioClient) GetPost(id int64) (scenario.Post, error) {
	return field(func(post *client.PostDetail) scenario.Post {
		return scenario.Post{ID: post.Id, Title: post.Title, Image: post.GetImage()}
	})(unwrap(c.api.PostsAPI.GetPost(c.ctx, id).Execute()))
}

func (c *scenarioClient) ListPosts(limit int32, cursor string) (scenario.Page, error) {
	request := c.api.PostsAPI.ListPosts(c.ctx).Limit(limit)
	if cursor != "" {
		request = request.Cursor(cursor)
	}
	list, response, err := request.Execute()
	list, err = unwrap(list, response, err)
	page := scenario.Page{Posts: make([]scenario.Post, len(list))}
	for i := range list {
		page.Posts[i] = postOf(&list[i])
	}
	if response != nil {
		page.Link = response.Header.Get("Link")
	}
	return page, err
}

func (c *scenarioClient) DownloadImage(filename string) ([]byte, error) {
	file, err := unwrap(c.api.PostsAPI.GetPostImage(c.ctx, filename).Execute())
	if err != nil {
		return nil, err
	}
	// The generated client downloads an image into a temporary file.
	defer os.Remove(file.Name())
	defer file.Close()
	return io.ReadAll(file)
}

func (c *scenarioClient) SendFriendRequest(to int64) (string, error) {
	return message(unwrap(c.api.FriendsAPI.SendFriendRequest(c.ctx).To(to).Execute()))
}

func (c *scenarioClient) AcceptFriendRequest(from int64) (string, error) {
	return message(unwrap(c.api.FriendsAPI.AcceptFriendRequest(c.ctx).From(from).Execute()))
}

func main() {
	scenario.Run(connect)
}
