package apifault

import (
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

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
