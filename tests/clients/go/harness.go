package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"strings"
)

// A reply that satisfies the client.
const agree = "types and values agree"

// A row of docs/reference/compatibility.md: one call and its outcome.
type row struct {
	Client  string `json:"client"`
	Method  string `json:"method"`
	Path    string `json:"path"`
	Type    string `json:"type"`
	Outcome string `json:"outcome"`
}

// A row of the table of intended differences from the clients' expectations.
type refusal struct {
	What     string `json:"what"`
	Client   string `json:"client"`
	Platform string `json:"platform"`
	Reply    string `json:"reply"`
}

// Replies of the clients' original platform, as far as they are public.
const (
	same    = "the same"
	unknown = "unknown"
)

// A client's expectation, and the reply of its original platform.
type wish struct{ client, what, platform string }

type found struct {
	Calls    []row     `json:"calls"`
	Refusals []refusal `json:"refusals"`
	failed   int
	address  string
}

func (f *found) fail(what, got string) {
	f.failed++
	fmt.Printf("FAILED  %s: %s\n", what, got)
}

// Records a failure unless the statement in what holds.
func (f *found) expect(what string, holds bool, got any) {
	if !holds {
		f.fail(what, fmt.Sprintf("%+v", got))
	}
}

// Sends a request with the headers of the Go client. Returns status and body.
func (f *found) send(method, path, key string, body any) (int, []byte) {
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		must(err)
		reader = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, f.address+path, reader)
	must(err)
	request.Header.Set("Authorization", "Api-Key "+key)
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	reply, err := http.DefaultClient.Do(request)
	must(err)
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	must(err)
	return reply.StatusCode, text
}

// Waits until all pending work of submissions and decisions is done.
func (f *found) settle() {
	status, text := f.send("GET", "/_local/settled", consumerKey, nil)
	f.expect("the system settles", status == http.StatusOK, string(text))
}

// Calls a route and decodes the reply into the client's type T. Records the outcome for the page.
func call[T any](f *found, client, method, path, key string, body any, status int) T {
	var into T
	got, text := f.send(method, path, key, body)
	outcome := agree
	if got != status {
		outcome = fmt.Sprintf("status %d instead of %d: %.300s", got, status, text)
	} else if problems := compare(f.address, text, &into); len(problems) > 0 {
		outcome = strings.Join(problems, "; ")
	}
	f.Calls = append(f.Calls, row{client, method, pattern(path), typeName(into), outcome})
	if outcome != agree {
		f.fail(method+" "+path, outcome)
	}
	return into
}

// Lists a route. An empty list counts as a failure, because it would compare nothing.
func list[T any](f *found, client, path, key string) []T {
	page := call[page[T]](f, client, "GET", path, key, nil, http.StatusOK)
	f.expect("GET "+path+" has results", len(page.Results) > 0, page)
	return page.Results
}

// Calls a route that differs from the client's expectation on purpose. The reply must contain the text in part.
func (f *found) refuse(wish wish, method, path, key string, body any, status int, part string) {
	got, text := f.send(method, path, key, body)
	f.expect(wish.what, got == status && strings.Contains(string(text), part), fmt.Sprintf("%d %.300s", got, text))
	f.Refusals = append(f.Refusals, refusal{wish.what, wish.client, wish.platform, fmt.Sprintf("%d, `%s`", status, part)})
}

var number = regexp.MustCompile(`/\d+(/|$)`)

// Returns the path in the form of the page, without ids and query.
func pattern(path string) string {
	path, _, _ = strings.Cut(path, "?")
	return number.ReplaceAllString(path, "/{id}$1")
}

var generic = regexp.MustCompile(`page\[(.+)\]`)

func typeName(value any) string {
	name := strings.ReplaceAll(reflect.TypeOf(value).String(), "main.", "")
	name = strings.ReplaceAll(name, "map[string]interface {}", "document")
	return generic.ReplaceAllString(name, "page of $1")
}

// Returns the first value with a property. Without one, the program ends.
func pick[T any](f *found, what string, values []T, is func(T) bool) T {
	for _, value := range values {
		if is(value) {
			return value
		}
	}
	must(fmt.Errorf("%s is missing among %+v", what, values))
	panic("unreachable")
}
