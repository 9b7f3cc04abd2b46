package apifault

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// status is what the API server would answer a call with.
func (a *Answer) status(info *request.RequestInfo) *metav1.Status {
	gr := schema.GroupResource{Group: info.APIGroup, Resource: info.Resource}
	seconds := int(time.Duration(a.RetryAfter).Seconds())
	var err *apierrors.StatusError
	switch a.Code {
	case http.StatusConflict:
		// The API server's words for an object that somebody else has written since.
		err = apierrors.NewConflict(gr, info.Name, errors.New("the object has been modified; please apply your changes to the latest version and try again"))
		if info.Verb == "create" && info.Subresource == "" {
			err = apierrors.NewAlreadyExists(gr, info.Name)
		}
	case http.StatusTooManyRequests:
		err = apierrors.NewTooManyRequests("Too many requests, please try again later.", seconds)
	case http.StatusForbidden:
		err = apierrors.NewForbidden(gr, info.Name, errors.New("forbidden by a rule of the fault proxy"))
	case http.StatusInternalServerError:
		err = apierrors.NewInternalError(errors.New("made by a rule of the fault proxy"))
	case http.StatusServiceUnavailable:
		err = apierrors.NewServiceUnavailable("the server is currently unable to handle the request")
	default:
		err = apierrors.NewGenericServerResponse(a.Code, info.Verb, gr, info.Name, "made by a rule of the fault proxy", seconds, true)
	}
	status := err.Status()
	if a.Message != "" {
		status.Message = a.Message
	}
	if seconds > 0 {
		if status.Details == nil {
			status.Details = &metav1.StatusDetails{}
		}
		status.Details.RetryAfterSeconds = int32(seconds)
	}
	return &status
}

// unreachable is the answer of a proxy whose API server does not answer.
func unreachable(host string, err error) *metav1.Status {
	status := apierrors.NewServiceUnavailable(fmt.Sprintf("the fault proxy cannot reach the API server at %s: %v", host, err)).Status()
	return &status
}

// expired is the error of a watch whose resource version is too old.
func expired() *metav1.Status {
	status := apierrors.NewResourceExpired("too old resource version: expired by a rule of the fault proxy").Status()
	return &status
}

// codecs know the few types that the proxy writes itself.
var codecs = func() serializer.CodecFactory {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return serializer.NewCodecFactory(scheme)
}()

// writeStatus answers r, in the encoding that it asks for.
func writeStatus(w http.ResponseWriter, r *http.Request, status *metav1.Status) {
	encoding := accepted(r.Header.Values("Accept"))
	status.Kind, status.APIVersion = "Status", "v1"
	w.Header().Set("Content-Type", encoding.MediaType)
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	w.WriteHeader(int(status.Code))
	_ = encoding.Serializer.Encode(status, w) // the client may have gone
}

// accepted is the first encoding of an Accept header that the proxy can write,
// JSON where there is none.
func accepted(headers []string) runtime.SerializerInfo {
	for _, each := range strings.Split(strings.Join(headers, ","), ",") {
		mediaType, _, err := mime.ParseMediaType(each)
		if err != nil {
			continue
		}
		if info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType); ok && info.StreamSerializer != nil {
			return info
		}
	}
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	return info
}
