package fakecloud

import "fmt"

// Error is what a cloud answers to a call that it does not carry out: our product, and no problem
// of ours. Codes are those of the Hetzner Cloud API.
type Error struct {
	Code    string
	Message string
	// Fields says which fields of the call were wrong, for invalid_input.
	Fields []FieldError
}

// FieldError is what is wrong with one field.
type FieldError struct{ Name, Message string }

func (e *Error) Error() string { return fmt.Sprintf("%s (%s)", e.Message, e.Code) }

// Errorf returns an Error.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid is the invalid_input error about one field.
func Invalid(field, format string, args ...any) *Error {
	message := fmt.Sprintf(format, args...)
	return &Error{
		Code: "invalid_input", Message: fmt.Sprintf("invalid input in field '%s'", field),
		Fields: []FieldError{{Name: field, Message: message}},
	}
}

// NotFound is the error about a resource that is not there.
func NotFound(kind string, id any) *Error {
	return Errorf("not_found", "%s with ID '%v' not found", kind, id)
}
