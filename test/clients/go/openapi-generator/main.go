// The scenario with the client of openapi-generator.
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

type person struct {
	api *client.APIClient
	// ctx carries the token, as these clients have it.
	ctx context.Context
}

func connect(base, token string) scenario.Client {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: base}}
	ctx := context.Background()
	if token != "" {
		ctx = context.WithValue(ctx, client.ContextAccessToken, token)
	}
	return &person{client.NewAPIClient(configuration), ctx}
}

// given turns what an Execute answers into what the scenario takes.
func given[Body any](body Body, response *http.Response, err error) (Body, error) {
	var failure *client.GenericOpenAPIError
	if !errors.As(err, &failure) {
		return body, err
	}
	refusal, ok := failure.Model().(client.ApiError)
	if !ok {
		return body, err
	}
	refused := &scenario.Refused{Status: response.StatusCode, Code: refusal.Code, Message: refusal.Message}
	for _, problem := range refusal.Errors {
		refused.Problems = append(refused.Problems, problem.In+" "+problem.Field+" "+problem.Code)
	}
	return body, refused
}

// field takes one field out of an answer.
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

func bytesOf(file *os.File, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	return io.ReadAll(file)
}

func (p *person) Register(name, username, email, password string) (int64, error) {
	registration := *client.NewRegistration(name, username, email, password)
	return field((*client.RegisteredAccount).GetId)(given(p.api.AuthAPI.Register(p.ctx).Registration(registration).Execute()))
}

func (p *person) Login(email, password string) (string, error) {
	credentials := *client.NewCredentials(email, password)
	return field((*client.SessionToken).GetToken)(given(p.api.AuthAPI.Login(p.ctx).Credentials(credentials).Execute()))
}

func (p *person) OwnEmail() (string, error) {
	return field((*client.Account).GetEmail)(given(p.api.AuthAPI.GetCurrentAccount(p.ctx).Execute()))
}

func (p *person) ChangePicture(image scenario.File) (string, error) {
	file, err := os.Open(image.Path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	return field((*client.FullProfile).GetProfileLink)(given(p.api.ProfilesAPI.UpdateProfile(p.ctx).Image(file).Execute()))
}

func (p *person) GoPrivate() (bool, error) {
	return field((*client.FullProfile).GetPrivate)(given(p.api.ProfilesAPI.UpdateProfile(p.ctx).Private(true).Execute()))
}

func (p *person) IsPrivate(id int64) (*bool, error) {
	private := func(profile *client.Profile) *bool { return profile.Private }
	return field(private)(given(p.api.ProfilesAPI.GetProfile(p.ctx, id).Execute()))
}

func (p *person) DownloadPicture(filename string) ([]byte, error) {
	return bytesOf(given(p.api.ProfilesAPI.GetProfileImage(p.ctx, filename).Execute()))
}

func (p *person) DeleteAccount(password string) (string, error) {
	confirmation := *client.NewPasswordConfirmation(password)
	return message(given(p.api.ProfilesAPI.DeleteAccount(p.ctx).PasswordConfirmation(confirmation).Execute()))
}

func postOf(post *client.Post) scenario.Post {
	return scenario.Post{ID: post.Id, Title: post.Title, Image: post.GetImage(), LikeCount: post.LikeCount, LikedByMe: post.LikedByMe}
}

func (p *person) CreatePost(key, title, text string, image *scenario.File) (scenario.Post, error) {
	request := p.api.PostsAPI.CreatePost(p.ctx).IdempotencyKey(key).Title(title).Text(text)
	if image != nil {
		file, err := os.Open(image.Path)
		if err != nil {
			return scenario.Post{}, err
		}
		defer file.Close()
		request = request.Image(file)
	}
	return field(postOf)(given(request.Execute()))
}

func (p *person) GetPost(id int64) (scenario.Post, error) {
	return field(func(post *client.PostDetail) scenario.Post {
		return scenario.Post{ID: post.Id, Title: post.Title, Image: post.GetImage(), LikeCount: post.LikeCount, LikedByMe: post.LikedByMe}
	})(given(p.api.PostsAPI.GetPost(p.ctx, id).Execute()))
}

func (p *person) ListPosts(limit, offset int32) ([]scenario.Post, error) {
	list, err := given(p.api.PostsAPI.ListPosts(p.ctx).Limit(limit).Offset(offset).Execute())
	posts := make([]scenario.Post, len(list))
	for i := range list {
		posts[i] = postOf(&list[i])
	}
	return posts, err
}

func (p *person) LikePost(id int64) (string, error) {
	return message(given(p.api.PostsAPI.LikePost(p.ctx).Id(id).Execute()))
}

func (p *person) DownloadImage(filename string) ([]byte, error) {
	return bytesOf(given(p.api.PostsAPI.GetPostImage(p.ctx, filename).Execute()))
}

func (p *person) SendFriendRequest(to int64) (string, error) {
	return message(given(p.api.FriendsAPI.SendFriendRequest(p.ctx).To(to).Execute()))
}

func (p *person) AcceptFriendRequest(from int64) (string, error) {
	return message(given(p.api.FriendsAPI.AcceptFriendRequest(p.ctx).From(from).Execute()))
}

func main() {
	scenario.Play(connect)
}
