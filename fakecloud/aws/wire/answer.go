package wire

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Answer is what is written for a call that was carried out. Of is a struct, or a Tree.
type Answer struct {
	Protocol          Protocol
	Action, Namespace string
	RequestID         string
	Of                any
}

// Write is the body, which is appended to b.
func (a Answer) Write(b []byte) ([]byte, error) {
	if !a.Protocol.IsForm() {
		is := a.Of
		if _, altered := is.(map[string]any); !altered {
			is = Tree(a.Protocol, is)
		}
		text, err := json.Marshal(is)
		return append(b, text...), err
	}
	b = append(b, `<?xml version="1.0" encoding="UTF-8"?>`...)
	b = fmt.Appendf(b, "\n<%sResponse xmlns=%q>", a.Action, a.Namespace)
	if a.Protocol == EC2Query {
		b = fmt.Appendf(b, "<requestId>%s</requestId>", a.RequestID)
		b = a.appendOf(b)
	} else {
		b = fmt.Appendf(b, "<%sResult>", a.Action)
		b = a.appendOf(b)
		b = fmt.Appendf(b, "</%sResult><ResponseMetadata><RequestId>%s</RequestId></ResponseMetadata>", a.Action, a.RequestID)
	}
	return fmt.Appendf(b, "</%sResponse>", a.Action), nil
}

func (a Answer) appendOf(b []byte) []byte {
	if altered, is := a.Of.(map[string]any); is {
		return appendTree(b, a.Protocol, altered)
	}
	v := reflect.ValueOf(a.Of)
	return appendXML(b, a.Protocol, v, planOf(v.Type()))
}

// appendTree writes what Tree returned.
func appendTree(b []byte, p Protocol, is any) []byte {
	element := func(name string, of any) {
		b = append(append(append(b, '<'), name...), '>')
		b = appendTree(b, p, of)
		b = append(append(append(b, '<', '/'), name...), '>')
	}
	switch is := is.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(is)) {
			element(name, is[name])
		}
	case []any:
		item := "item"
		if p == AWSQuery {
			item = "member"
		}
		for _, of := range is {
			element(item, of)
		}
	default:
		b = appendText(b, fmt.Sprint(is))
	}
	return b
}

// WriteError is the body of an error's answer, and the headers that go with it.
func WriteError(p Protocol, namespace, requestID string, e *Error) (body []byte, headers map[string]string) {
	code, message := appendText(nil, e.Code), appendText(nil, e.Message)
	switch p {
	case EC2Query:
		return fmt.Appendf(nil, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Response><Errors><Error><Code>%s</Code><Message>%s</Message>"+
			"</Error></Errors><RequestID>%s</RequestID></Response>", code, message, requestID), nil
	case AWSQuery:
		kind := "Sender"
		if e.StatusOf() >= 500 {
			kind = "Receiver"
		}
		return fmt.Appendf(nil, "<ErrorResponse xmlns=%q><Error><Type>%s</Type><Code>%s</Code><Message>%s</Message></Error>"+
			"<RequestId>%s</RequestId></ErrorResponse>", namespace, kind, code, message, requestID), nil
	}
	is := map[string]string{"message": e.Message}
	if p != RESTJSON {
		is["__type"] = e.Code
	}
	body, _ = json.Marshal(is) // texts only
	headers = map[string]string{"X-Amzn-Errortype": e.Code}
	if e.Query != "" {
		headers["X-Amzn-Query-Error"] = e.Query + ";Sender"
	}
	return body, headers
}
