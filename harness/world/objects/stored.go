package objects

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sigsyaml "sigs.k8s.io/yaml"
)

// Stored says of what kind a stored object is.
type Stored struct{ Group, Kind, Resource, Namespace string }

// StoredAt is where etcd has an object of a kind that a CustomResourceDefinition defines: those are stored as JSON, and
// Kubernetes' own in a binary form that could not hold a value of another type.
func (c *Client) StoredAt(r Ref) (key string, of Stored, err error) {
	found, err := c.find(r.Kind)
	if err != nil {
		return "", of, err
	}
	group := found.GroupVersionResource.Group
	if known.IsGroupRegistered(group) {
		return "", of, fmt.Errorf("%s: what Kubernetes' own kinds have stored cannot be changed, only objects of custom ones", r)
	}
	of = Stored{Group: group, Kind: found.Kind, Resource: found.GroupVersionResource.Resource}
	key = "/registry/" + group + "/" + of.Resource + "/"
	if found.Namespaced {
		of.Namespace = cmp.Or(r.Namespace, metav1.NamespaceDefault)
		key += of.Namespace + "/"
	}
	return key + r.Name, of, nil
}

// Value is one as YAML reads it.
func Value(text string) (value any, err error) {
	err = sigsyaml.Unmarshal([]byte(text), &value)
	return value, err
}

// WithField is an object as JSON with another value of a field, and the value that it had. The field need not be there, but
// what it is in has to be.
func WithField(object []byte, path []string, to any) (changed []byte, was any, err error) {
	var at any
	if err := json.Unmarshal(object, &at); err != nil {
		return nil, nil, fmt.Errorf("it is not stored as JSON: %w", err)
	}
	top := at
	for i, step := range path {
		last := i == len(path)-1
		switch in := at.(type) {
		case map[string]any:
			if at = in[step]; last {
				in[step] = to
			}
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(in) {
				return nil, nil, fmt.Errorf("%s is no place in a list of %d", step, len(in))
			}
			if at = in[n]; last {
				in[n] = to
			}
		default:
			return nil, nil, errors.New("there is nothing that it could be in")
		}
	}
	changed, err = json.Marshal(top)
	return changed, at, err
}
