package manifest

import (
	"bytes"
	"errors"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// Decode reads all objects of YAML or JSON text that a release ships; documents
// without an object are passed over.
func Decode(text []byte) (objects []*unstructured.Unstructured, err error) {
	for d := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		o := &unstructured.Unstructured{}
		if err := d.Decode(&o.Object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		if len(o.Object) > 0 {
			objects = append(objects, o)
		}
	}
}
