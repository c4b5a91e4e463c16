package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Decodes a reply like the client, and checks it against the `is` tags of the client's type:
//
//	null         the value may be null; the client then reads a zero value
//	absent       the field may be missing
//	object       the value is an object
//	url          the value is a URL of this system
//	one=A|B      the value is one of these
//	only=a|b     the nested object has at least these fields
//
// A time has six fraction digits and ends with Z.
func compare(address string, text []byte, into any) []string {
	if err := json.Unmarshal(text, into); err != nil {
		return []string{err.Error()}
	}
	return inspect(address, reflect.TypeOf(into).Elem(), text, words{}, "")
}

type words []string

func (w words) has(word string) bool { return slices.Contains(w, word) }

// Returns the choices of `name=A|B`, or nil.
func (w words) choices(name string) []string {
	for _, word := range w {
		if choices, is := strings.CutPrefix(word, name+"="); is {
			return strings.Split(choices, "|")
		}
	}
	return nil
}

var (
	timestamp = regexp.MustCompile(`^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"$`)
	timeType  = reflect.TypeFor[time.Time]()
	rawType   = reflect.TypeFor[json.RawMessage]()
)

func inspect(address string, of reflect.Type, text []byte, is words, at string) []string {
	text = bytes.TrimSpace(text)
	if string(text) == "null" {
		if of.Kind() == reflect.Pointer || of.Kind() == reflect.Interface || is.has("null") {
			return nil
		}
		return []string{at + " is null"}
	}
	switch {
	case of.Kind() == reflect.Pointer:
		return inspect(address, of.Elem(), text, is, at)
	case of == timeType:
		return unless(timestamp.Match(text), at, "is not a time with six fraction digits", text)
	case of == rawType || of.Kind() == reflect.Map:
		return unless(!is.has("object") || text[0] == '{', at, "is not an object", text)
	case of.Kind() == reflect.String:
		return inspectText(address, text, is, at)
	case of.Kind() == reflect.Slice:
		return inspectList(address, of.Elem(), text, at)
	case of.Kind() == reflect.Struct:
		return inspectObject(address, of, text, is, at)
	}
	return nil
}

func unless(holds bool, at, problem string, text []byte) []string {
	if holds {
		return nil
	}
	return []string{fmt.Sprintf("%s %s: %.80s", at, problem, text)}
}

func inspectText(address string, text []byte, is words, at string) []string {
	var value string
	must(json.Unmarshal(text, &value))
	if is.has("url") {
		return unless(strings.HasPrefix(value, address+"/v1/"), at, "is not a URL of this system", text)
	}
	if choices := is.choices("one"); choices != nil {
		return unless(slices.Contains(choices, value), at, "is not one of "+strings.Join(choices, ", "), text)
	}
	return nil
}

func inspectList(address string, of reflect.Type, text []byte, at string) []string {
	var elements []json.RawMessage
	must(json.Unmarshal(text, &elements))
	var problems []string
	for index, element := range elements {
		problems = append(problems, inspect(address, of, element, words{}, fmt.Sprintf("%s[%d]", at, index))...)
	}
	return problems
}

func inspectObject(address string, of reflect.Type, text []byte, is words, at string) []string {
	var object map[string]json.RawMessage
	must(json.Unmarshal(text, &object))
	needed := is.choices("only")
	var problems []string
	for index := range of.NumField() {
		field := of.Field(index)
		if field.Anonymous {
			problems = append(problems, inspectObject(address, field.Type, text, is, at)...)
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		words := words(strings.Fields(field.Tag.Get("is")))
		path := strings.TrimPrefix(at+"."+name, ".")
		value, there := object[name]
		switch {
		case there:
			problems = append(problems, inspect(address, field.Type, value, words, path)...)
		case !words.has("absent") && (needed == nil || slices.Contains(needed, name)):
			problems = append(problems, path+" is missing")
		}
	}
	return problems
}
