// Package scenario is what people do with a client, whatever its functions are called.
package scenario

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"os"
	"path"
	"slices"
)

const password = "Quiet-Harbour-27!"

// Refused is an answer that is an error, with its problems as "in field code".
type Refused struct {
	Status   int
	Code     string
	Message  string
	Problems []string
}

func (refused *Refused) Error() string {
	return fmt.Sprint(refused.Status, " ", refused.Code, " ", refused.Message, " ", refused.Problems)
}

type Post struct {
	ID        int64
	Title     string
	Image     string
	LikeCount int64
	LikedByMe bool
}

// File is an image with the name and the type under which it is sent.
type File struct {
	Path, Type string
}

// Client is what one person does, by whatever functions a generator has made. Each may answer a *Refused.
type Client interface {
	Register(name, username, email, password string) (int64, error)
	Login(email, password string) (string, error)
	OwnEmail() (string, error)
	ChangePicture(image File) (string, error)
	GoPrivate() (bool, error)
	// IsPrivate answers nil where that is not shown.
	IsPrivate(id int64) (*bool, error)
	DownloadPicture(filename string) ([]byte, error)
	DeleteAccount(password string) (string, error)
	CreatePost(key, title, text string, image *File) (Post, error)
	GetPost(id int64) (Post, error)
	ListPosts(limit, offset int32) ([]Post, error)
	LikePost(id int64) (string, error)
	DownloadImage(filename string) ([]byte, error)
	SendFriendRequest(to int64) (string, error)
	AcceptFriendRequest(from int64) (string, error)
}

func must[Body any](body Body, err error) Body {
	if err != nil {
		log.Panic(err)
	}
	return body
}

func check(holds bool, found ...any) {
	if !holds {
		log.Panic(found...)
	}
}

func refused[Body any](status int, body Body, err error) *Refused {
	var refusal *Refused
	if !errors.As(err, &refusal) || refusal.Status != status || refusal.Message == "" {
		log.Panicf("%v, %v where %d is due", body, err, status)
	}
	return refusal
}

// Play plays it, and prints the name of each step that has gone well.
func Play(connect func(base, token string) Client) {
	base := os.Getenv("BASE_URL")
	picture := File{os.Getenv("PICTURE"), "image/png"}
	image := File{os.Getenv("IMAGE"), "image/jpeg"}
	suffix := rand.Text()[:8]
	nobody := connect(base, "")
	emailOf := func(name string) string { return name + "." + suffix + "@example.org" }

	register := func(name string) int64 {
		return must(nobody.Register(name, name+"_"+suffix, emailOf(name), password))
	}
	adaID, benID, cleoID := register("ada"), register("ben"), register("cleo")
	fmt.Println("register")

	login := func(name string) Client { return connect(base, must(nobody.Login(emailOf(name), password))) }
	ada, ben, cleo := login("ada"), login("ben"), login("cleo")
	email := must(ada.OwnEmail())
	check(email != "", email)
	fmt.Println("log in")

	profileLink := must(ada.ChangePicture(picture))
	fmt.Println("upload a picture")

	key := rand.Text()
	post := must(ada.CreatePost(key, "First", "With an image.", &image))
	check(post.Title == "First", post)
	retried := must(ada.CreatePost(key, "First", "With an image.", &image))
	check(retried.ID == post.ID, retried)
	other, err := ada.CreatePost(key, "Another", "With the same key.", nil)
	refused(422, other, err)
	fmt.Println("post with an image")

	must(ben.SendFriendRequest(adaID))
	must(ada.AcceptFriendRequest(benID))
	fmt.Println("befriend")

	check(must(ada.GoPrivate()), "not private")
	hidden, err := cleo.GetPost(post.ID)
	refused(404, hidden, err)
	hiddenImage, err := cleo.DownloadImage(path.Base(post.Image))
	refused(404, hiddenImage, err)
	check(must(cleo.IsPrivate(adaID)) == nil, "a stranger sees the flag")
	check(*must(ben.IsPrivate(adaID)), "not private")
	fmt.Println("go private")

	must(ben.LikePost(post.ID))
	liked := must(ben.GetPost(post.ID))
	check(liked.LikeCount == 1 && liked.LikedByMe, liked)
	fmt.Println("like")

	second := must(ada.CreatePost(rand.Text(), "Second", "None.", nil))
	third := must(ada.CreatePost(rand.Text(), "Third", "None.", nil))
	page, next := must(ben.ListPosts(2, 0)), must(ben.ListPosts(2, 2))
	check(len(page) == 2 && page[0].ID == third.ID && page[1].ID == second.ID && next[0].ID == post.ID, page, next)
	fmt.Println("page through the feed")

	check(bytes.Equal(must(ben.DownloadPicture(path.Base(profileLink))), must(os.ReadFile(picture.Path))), "other bytes")
	check(bytes.Equal(must(ben.DownloadImage(path.Base(post.Image))), must(os.ReadFile(image.Path))), "other bytes")
	fmt.Println("download images")

	id, err := nobody.Register("Dan", "dan_"+suffix, "dan@mailinator.com", "There is no digit here.")
	problems := refused(400, id, err).Problems
	slices.Sort(problems)
	check(slices.Equal(problems, []string{"body email disposable_email", "body password needs_digit"}), problems)
	fmt.Println("read the problems of a 400")

	unseen, err := connect(base, "").OwnEmail()
	refused(401, unseen, err)
	token, err := nobody.Login(emailOf("ada"), "something else")
	refused(401, token, err)
	message, err := ada.DeleteAccount("something else")
	code := refused(401, message, err).Code
	check(code == "invalid_password", code)
	message, err = ben.SendFriendRequest(adaID)
	refused(409, message, err)
	message, err = ben.AcceptFriendRequest(cleoID)
	refused(404, message, err)
	fmt.Println("be refused")

	for _, person := range []Client{ada, ben, cleo} {
		must(person.DeleteAccount(password))
	}
	gone, err := ada.OwnEmail()
	refused(401, gone, err)
	fmt.Println("delete the accounts")
}
