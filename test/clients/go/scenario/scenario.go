// Package scenario contains the scenario that every generated Go client runs.
package scenario

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
)

const password = "Quiet-Harbour-27!"

// ErrorResponse is a response with an error status. Its problems have the form "in field code".
type ErrorResponse struct {
	Status   int
	Code     string
	Message  string
	Problems []string
}

func (response *ErrorResponse) Error() string {
	return fmt.Sprint(response.Status, " ", response.Code, " ", response.Message, " ", response.Problems)
}

type Post struct {
	ID    int64
	Title string
	Image string
}

// Page is a page of posts, and the header Link.
type Page struct {
	Posts []Post
	Link  string
}

// File is an image, and the media type that its part of a form declares.
type File struct {
	Path, Type string
}

// Client sends the requests of one user. It is implemented with each generated client. Each method returns an *ErrorResponse
// if the response has an error status. It may panic if there is no response.
type Client interface {
	Register(name, username, email, password string) (int64, error)
	Login(email, password string) (string, error)
	OwnEmail() (string, error)
	// GoPrivate makes the account private, and sets its picture. It returns the link of the picture.
	GoPrivate(picture File) (string, error)
	// IsPrivate returns nil if the profile does not show it.
	IsPrivate(id int64) (*bool, error)
	DeleteAccount(password string) (string, error)
	CreatePost(key, title, text string, image *File) (Post, error)
	GetPost(id int64) (Post, error)
	// ListPosts returns a page. An empty cursor is not sent.
	ListPosts(limit int32, cursor string) (Page, error)
	DownloadImage(filename string) ([]byte, error)
	SendFriendRequest(to int64) (string, error)
	AcceptFriendRequest(from int64) (string, error)
}

// Must returns the value. It panics if there is an error.
func Must[Value any](value Value, err error) Value {
	if err != nil {
		log.Panic(err)
	}
	return value
}

// check panics with the values unless the condition holds.
func check(condition bool, found ...any) {
	if !condition {
		log.Panic(found...)
	}
}

// expectError returns the error response of an operation. It panics unless the operation has failed with this status.
func expectError[Body any](status int, body Body, err error) *ErrorResponse {
	var response *ErrorResponse
	if !errors.As(err, &response) || response.Status != status || response.Message == "" {
		log.Panicf("%v, %v instead of status %d", body, err, status)
	}
	return response
}

// cursorIn returns the cursor of the next page from the header Link.
func cursorIn(link string) string {
	next := Must(url.Parse(strings.TrimSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)))
	return next.Query().Get("cursor")
}

// Run runs the scenario with three users. It prints the name of each step after its success.
func Run(connect func(base, token string) Client) {
	base := os.Getenv("BASE_URL")
	picture := File{os.Getenv("PICTURE"), "image/png"}
	image := File{os.Getenv("IMAGE"), "image/jpeg"}
	// The service returns email addresses in lower case.
	suffix := strings.ToLower(rand.Text()[:8])
	anonymous := connect(base, "")
	emailOf := func(name string) string { return name + "." + suffix + "@example.org" }

	register := func(name string) int64 {
		return Must(anonymous.Register(name, name+"_"+suffix, emailOf(name), password))
	}
	adaID, benID, cleoID := register("ada"), register("ben"), register("cleo")
	fmt.Println("register")

	login := func(name string) Client { return connect(base, Must(anonymous.Login(emailOf(name), password))) }
	ada, ben, cleo := login("ada"), login("ben"), login("cleo")
	email := Must(ada.OwnEmail())
	check(email == emailOf("ada"), email)
	fmt.Println("log in")

	key := rand.Text()
	post := Must(ada.CreatePost(key, "First", "With an image.", &image))
	check(post.Title == "First", post)
	retried := Must(ada.CreatePost(key, "First", "With an image.", &image))
	check(retried.ID == post.ID, retried)
	other, err := ada.CreatePost(key, "Another", "With the same key.", nil)
	expectError(422, other, err)
	fmt.Println("post with an image")

	Must(ben.SendFriendRequest(adaID))
	Must(ada.AcceptFriendRequest(benID))
	fmt.Println("befriend")

	check(Must(ada.GoPrivate(picture)) != "", "no picture")
	hidden, err := cleo.GetPost(post.ID)
	expectError(404, hidden, err)
	hiddenImage, err := cleo.DownloadImage(path.Base(post.Image))
	expectError(404, hiddenImage, err)
	check(Must(cleo.IsPrivate(adaID)) == nil, "a stranger sees whether the account is private")
	check(*Must(ben.IsPrivate(adaID)), "not private")
	fmt.Println("go private")

	second := Must(ada.CreatePost(rand.Text(), "Second", "None.", nil))
	third := Must(ada.CreatePost(rand.Text(), "Third", "None.", nil))
	page := Must(ben.ListPosts(2, ""))
	check(len(page.Posts) == 2 && page.Posts[0].ID == third.ID && page.Posts[1].ID == second.ID, page)
	next := Must(ben.ListPosts(2, cursorIn(page.Link)))
	check(next.Posts[0].ID == post.ID, next)
	fmt.Println("page through the feed")

	check(bytes.Equal(Must(ben.DownloadImage(path.Base(post.Image))), Must(os.ReadFile(image.Path))), "other bytes")
	fmt.Println("download an image")

	id, err := anonymous.Register("Dan", "dan_"+suffix, "dan@mailinator.com", "There is no digit here.")
	problems := expectError(400, id, err).Problems
	slices.Sort(problems)
	check(slices.Equal(problems, []string{"body email disposable_email", "body password needs_digit"}), problems)
	fmt.Println("read the problems of a 400")

	unseen, err := connect(base, "").OwnEmail()
	expectError(401, unseen, err)
	token, err := anonymous.Login(emailOf("ada"), "something else")
	expectError(401, token, err)
	message, err := ada.DeleteAccount("something else")
	code := expectError(401, message, err).Code
	check(code == "invalid_password", code)
	message, err = ben.SendFriendRequest(adaID)
	expectError(409, message, err)
	message, err = ben.AcceptFriendRequest(cleoID)
	expectError(404, message, err)
	fmt.Println("be refused")

	for _, client := range []Client{ada, ben, cleo} {
		Must(client.DeleteAccount(password))
	}
	deleted, err := ada.OwnEmail()
	expectError(401, deleted, err)
	fmt.Println("delete the accounts")
}
