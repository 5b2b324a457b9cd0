// Runs the scenario with the client that oapi-codegen generates.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"path"

	"clients/oapi-codegen/client"
	"clients/scenario"
)

type scenarioClient struct {
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
	api := scenario.Must(client.NewClientWithResponses(base, client.WithRequestEditorFn(authorize)))
	return &scenarioClient{api, context.Background()}
}

// unwrap returns the body of a successful response, or the error that was decoded as a *scenario.ErrorResponse.
func unwrap[Body any](body *Body, status int, apiErrors ...*client.ApiError) (Body, error) {
	if body != nil {
		return *body, nil
	}
	var none Body
	for _, apiError := range apiErrors {
		if apiError == nil {
			continue
		}
		response := &scenario.ErrorResponse{Status: status, Code: apiError.Code, Message: apiError.Message}
		if apiError.Errors != nil {
			for _, problem := range *apiError.Errors {
				response.Problems = append(response.Problems, fmt.Sprint(problem.In, " ", problem.Field, " ", problem.Code))
			}
		}
		return none, response
	}
	return none, fmt.Errorf("status %d with an undeclared body", status)
}

// encodeForm returns the content type and the body of a form, because the generated client does not encode forms.
func encodeForm(fields map[string]string, image *scenario.File) (contentType string, body io.Reader) {
	// Writes to a buffer do not fail.
	buffer := &bytes.Buffer{}
	form := multipart.NewWriter(buffer)
	for name, value := range fields {
		form.WriteField(name, value)
	}
	if image != nil {
		header := textproto.MIMEHeader{}
		header.Set("Content-Disposition", multipart.FileContentDisposition("image", path.Base(image.Path)))
		header.Set("Content-Type", image.Type)
		part, _ := form.CreatePart(header)
		part.Write(scenario.Must(os.ReadFile(image.Path)))
	}
	form.Close()
	return form.FormDataContentType(), buffer
}

func (c *scenarioClient) Register(name, username, email, password string) (int64, error) {
	body := client.Registration{Name: name, Username: username, Email: email, Password: password}
	r := scenario.Must(c.api.RegisterWithResponse(c.ctx, body))
	account, err := unwrap(r.JSON201, r.StatusCode(), r.JSON400, r.JSON409)
	return account.Id, err
}

func (c *scenarioClient) Login(email, password string) (string, error) {
	r := scenario.Must(c.api.LoginWithResponse(c.ctx, client.Credentials{Email: email, Password: password}))
	session, err := unwrap(r.JSON200, r.StatusCode(), r.JSON400, r.JSON401)
	return session.Token, err
}

func (c *scenarioClient) OwnEmail() (string, error) {
	r := scenario.Must(c.api.GetCurrentAccountWithResponse(c.ctx))
	account, err := unwrap(r.JSON200, r.StatusCode(), r.JSON401)
	return account.Email, err
}

func (c *scenarioClient) GoPrivate(picture scenario.File) (string, error) {
	contentType, body := encodeForm(map[string]string{"private": "true"}, &picture)
	r := scenario.Must(c.api.UpdateProfileWithBodyWithResponse(c.ctx, contentType, body))
	profile, err := unwrap(r.JSON200, r.StatusCode(), r.JSON400, r.JSON401)
	if err != nil {
		return "", err
	}
	return *profile.ProfileLink, nil
}

func (c *scenarioClient) IsPrivate(id int64) (*bool, error) {
	r := scenario.Must(c.api.GetProfileWithResponse(c.ctx, id))
	profile, err := unwrap(r.JSON200, r.StatusCode(), r.JSON401, r.JSON404)
	return profile.Private, err
}

func (c *scenarioClient) DownloadImage(filename string) ([]byte, error) {
	r := scenario.Must(c.api.GetPostImageWithResponse(c.ctx, filename, nil))
	if r.StatusCode() == http.StatusOK {
		return r.Body, nil
	}
	return unwrap[[]byte](nil, r.StatusCode(), r.JSON401, r.JSON404)
}

func (c *scenarioClient) DeleteAccount(password string) (string, error) {
	r := scenario.Must(c.api.DeleteAccountWithResponse(c.ctx, client.PasswordConfirmation{Password: password}))
	done, err := unwrap(r.JSON200, r.StatusCode(), r.JSON401)
	return done.Message, err
}

func (c *scenarioClient) CreatePost(key, title, text string, image *scenario.File) (scenario.Post, error) {
	contentType, body := encodeForm(map[string]string{"title": title, "text": text}, image)
	params := &client.CreatePostParams{IdempotencyKey: &key}
	r := scenario.Must(c.api.CreatePostWithBodyWithResponse(c.ctx, params, contentType, body))
	post, err := unwrap(r.JSON201, r.StatusCode(), r.JSON400, r.JSON401, r.JSON422)
	return postOf(post.Id, post.Title, post.Image), err
}

func postOf(id int64, title string, image *string) scenario.Post {
	post := scenario.Post{ID: id, Title: title}
	if image != nil {
		post.Image = *image
	}
	return post
}

func (c *scenarioClient) GetPost(id int64) (scenario.Post, error) {
	r := scenario.Must(c.api.GetPostWithResponse(c.ctx, id))
	post, err := unwrap(r.JSON200, r.StatusCode(), r.JSON401, r.JSON404)
	return postOf(post.Id, post.Title, post.Image), err
}

func (c *scenarioClient) ListPosts(limit int32, cursor string) (scenario.Page, error) {
	params := client.ListPostsParams{Limit: &limit}
	if cursor != "" {
		params.Cursor = &cursor
	}
	r := scenario.Must(c.api.ListPostsWithResponse(c.ctx, &params))
	list, err := unwrap(r.JSON200, r.StatusCode(), r.JSON400, r.JSON401)
	page := scenario.Page{Posts: make([]scenario.Post, len(list)), Link: r.HTTPResponse.Header.Get("Link")}
	for i, post := range list {
		page.Posts[i] = postOf(post.Id, post.Title, post.Image)
	}
	return page, err
}

func (c *scenarioClient) SendFriendRequest(to int64) (string, error) {
	r := scenario.Must(c.api.SendFriendRequestWithResponse(c.ctx, &client.SendFriendRequestParams{To: to}))
	done, err := unwrap(r.JSON200, r.StatusCode(), r.JSON404, r.JSON409)
	return done.Message, err
}

func (c *scenarioClient) AcceptFriendRequest(from int64) (string, error) {
	r := scenario.Must(c.api.AcceptFriendRequestWithResponse(c.ctx, &client.AcceptFriendRequestParams{From: from}))
	done, err := unwrap(r.JSON200, r.StatusCode(), r.JSON401, r.JSON404)
	return done.Message, err
}

func main() {
	scenario.Run(connect)
}
