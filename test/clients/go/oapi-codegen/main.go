// The scenario with the client of oapi-codegen.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"path"

	"clients/oapi-codegen/client"
	"clients/scenario"
)

type person struct {
	api *client.ClientWithResponses
	ctx context.Context
}

func connect(base, token string) scenario.Client {
	authorize := func(_ context.Context, request *http.Request) error {
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		return nil
	}
	api, err := client.NewClientWithResponses(base, client.WithRequestEditorFn(authorize))
	if err != nil {
		log.Panic(err)
	}
	return &person{api, context.Background()}
}

// given answers the body of a success, or the one error that was decoded.
func given[Body any](body *Body, status int, refusals ...*client.ApiError) (Body, error) {
	if body != nil {
		return *body, nil
	}
	var none Body
	for _, refusal := range refusals {
		if refusal == nil {
			continue
		}
		refused := &scenario.Refused{Status: status, Code: refusal.Code, Message: refusal.Message}
		if refusal.Errors != nil {
			for _, problem := range *refusal.Errors {
				refused.Problems = append(refused.Problems, fmt.Sprint(problem.In, " ", problem.Field, " ", problem.Code))
			}
		}
		return none, refused
	}
	return none, fmt.Errorf("%d with nothing that was expected", status)
}

// formOf makes a form: that is left to the user. An image goes under its own type.
func formOf(fields map[string]string, image *scenario.File) (contentType string, body io.Reader, err error) {
	buffer := &bytes.Buffer{}
	form := multipart.NewWriter(buffer)
	for name, value := range fields {
		if err := form.WriteField(name, value); err != nil {
			return "", nil, err
		}
	}
	if image != nil {
		content, err := os.ReadFile(image.Path)
		if err != nil {
			return "", nil, err
		}
		header := textproto.MIMEHeader{}
		header.Set("Content-Disposition", multipart.FileContentDisposition("image", path.Base(image.Path)))
		header.Set("Content-Type", image.Type)
		part, err := form.CreatePart(header)
		if err != nil {
			return "", nil, err
		}
		if _, err := part.Write(content); err != nil {
			return "", nil, err
		}
	}
	return form.FormDataContentType(), buffer, form.Close()
}

func (p *person) Register(name, username, email, password string) (int64, error) {
	body := client.Registration{Name: name, Username: username, Email: email, Password: password}
	r, err := p.api.RegisterWithResponse(p.ctx, body)
	if err != nil {
		return 0, err
	}
	account, err := given(r.JSON201, r.StatusCode(), r.JSON400, r.JSON409)
	return account.Id, err
}

func (p *person) Login(email, password string) (string, error) {
	r, err := p.api.LoginWithResponse(p.ctx, client.Credentials{Email: email, Password: password})
	if err != nil {
		return "", err
	}
	session, err := given(r.JSON200, r.StatusCode(), r.JSON400, r.JSON401)
	return session.Token, err
}

func (p *person) OwnEmail() (string, error) {
	r, err := p.api.GetCurrentAccountWithResponse(p.ctx)
	if err != nil {
		return "", err
	}
	account, err := given(r.JSON200, r.StatusCode(), r.JSON401)
	return account.Email, err
}

func (p *person) updateProfile(fields map[string]string, image *scenario.File) (client.FullProfile, error) {
	contentType, body, err := formOf(fields, image)
	if err != nil {
		return client.FullProfile{}, err
	}
	r, err := p.api.UpdateProfileWithBodyWithResponse(p.ctx, contentType, body)
	if err != nil {
		return client.FullProfile{}, err
	}
	return given(r.JSON200, r.StatusCode(), r.JSON400, r.JSON401)
}

func (p *person) ChangePicture(image scenario.File) (string, error) {
	profile, err := p.updateProfile(nil, &image)
	if err != nil {
		return "", err
	}
	return *profile.ProfileLink, nil
}

func (p *person) GoPrivate() (bool, error) {
	profile, err := p.updateProfile(map[string]string{"private": "true"}, nil)
	return profile.Private, err
}

func (p *person) IsPrivate(id int64) (*bool, error) {
	r, err := p.api.GetProfileWithResponse(p.ctx, id)
	if err != nil {
		return nil, err
	}
	profile, err := given(r.JSON200, r.StatusCode(), r.JSON401, r.JSON404)
	return profile.Private, err
}

func (p *person) DownloadPicture(filename string) ([]byte, error) {
	r, err := p.api.GetProfileImageWithResponse(p.ctx, filename, nil)
	if err != nil {
		return nil, err
	}
	return bytesOf(r.StatusCode(), r.Body, r.JSON401, r.JSON404)
}

func (p *person) DownloadImage(filename string) ([]byte, error) {
	r, err := p.api.GetPostImageWithResponse(p.ctx, filename, nil)
	if err != nil {
		return nil, err
	}
	return bytesOf(r.StatusCode(), r.Body, r.JSON401, r.JSON404)
}

// bytesOf answers what an answer that is no JSON holds.
func bytesOf(status int, content []byte, refusals ...*client.ApiError) ([]byte, error) {
	if status == http.StatusOK {
		return content, nil
	}
	return given[[]byte](nil, status, refusals...)
}

func (p *person) DeleteAccount(password string) (string, error) {
	r, err := p.api.DeleteAccountWithResponse(p.ctx, client.PasswordConfirmation{Password: password})
	if err != nil {
		return "", err
	}
	done, err := given(r.JSON200, r.StatusCode(), r.JSON401)
	return done.Message, err
}

func (p *person) CreatePost(key, title, text string, image *scenario.File) (scenario.Post, error) {
	contentType, body, err := formOf(map[string]string{"title": title, "text": text}, image)
	if err != nil {
		return scenario.Post{}, err
	}
	r, err := p.api.CreatePostWithBodyWithResponse(p.ctx, &client.CreatePostParams{IdempotencyKey: &key}, contentType, body)
	if err != nil {
		return scenario.Post{}, err
	}
	post, err := given(r.JSON201, r.StatusCode(), r.JSON400, r.JSON401, r.JSON422)
	return postOf(post), err
}

func postOf(post client.Post) scenario.Post {
	shown := scenario.Post{ID: post.Id, Title: post.Title, LikeCount: post.LikeCount, LikedByMe: post.LikedByMe}
	if post.Image != nil {
		shown.Image = *post.Image
	}
	return shown
}

func (p *person) GetPost(id int64) (scenario.Post, error) {
	r, err := p.api.GetPostWithResponse(p.ctx, id)
	if err != nil {
		return scenario.Post{}, err
	}
	post, err := given(r.JSON200, r.StatusCode(), r.JSON401, r.JSON404)
	shown := client.Post{Id: post.Id, Title: post.Title, Image: post.Image, LikeCount: post.LikeCount, LikedByMe: post.LikedByMe}
	return postOf(shown), err
}

func (p *person) ListPosts(limit, offset int32) ([]scenario.Post, error) {
	r, err := p.api.ListPostsWithResponse(p.ctx, &client.ListPostsParams{Limit: &limit, Offset: &offset})
	if err != nil {
		return nil, err
	}
	list, err := given(r.JSON200, r.StatusCode(), r.JSON400, r.JSON401)
	posts := make([]scenario.Post, len(list))
	for i, post := range list {
		posts[i] = postOf(post)
	}
	return posts, err
}

func (p *person) LikePost(id int64) (string, error) {
	r, err := p.api.LikePostWithResponse(p.ctx, &client.LikePostParams{Id: id})
	if err != nil {
		return "", err
	}
	done, err := given(r.JSON200, r.StatusCode(), r.JSON401, r.JSON404)
	return done.Message, err
}

func (p *person) SendFriendRequest(to int64) (string, error) {
	r, err := p.api.SendFriendRequestWithResponse(p.ctx, &client.SendFriendRequestParams{To: to})
	if err != nil {
		return "", err
	}
	done, err := given(r.JSON200, r.StatusCode(), r.JSON404, r.JSON409)
	return done.Message, err
}

func (p *person) AcceptFriendRequest(from int64) (string, error) {
	r, err := p.api.AcceptFriendRequestWithResponse(p.ctx, &client.AcceptFriendRequestParams{From: from})
	if err != nil {
		return "", err
	}
	done, err := given(r.JSON200, r.StatusCode(), r.JSON401, r.JSON404)
	return done.Message, err
}

func main() {
	scenario.Play(connect)
}
