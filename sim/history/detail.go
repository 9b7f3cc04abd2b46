package history

// Detail holds a few small facts of an event that JSON can express. Its methods read a value
// alike in a live history, as it was recorded, and in a stored one, as JSON reads it.
type Detail map[string]any

// Text is empty if there is no such text.
func (d Detail) Text(key string) string {
	s, _ := d[key].(string)
	return s
}

// Texts are the texts of a list, nil if there is no such list.
func (d Detail) Texts(key string) []string {
	switch list := d[key].(type) {
	case []string:
		if list == nil {
			return []string{}
		}
		return list
	case []any:
		texts := make([]string, 0, len(list))
		for _, item := range list {
			if s, ok := item.(string); ok {
				texts = append(texts, s)
			}
		}
		return texts
	}
	return nil
}

// Number reports false if there is no such number.
func (d Detail) Number(key string) (float64, bool) {
	switch n := d[key].(type) {
	case float64:
		return n, true
	case int:
		return float64(n), true
	case int32:
		return float64(n), true
	case int64:
		return float64(n), true
	}
	return 0, false
}

// Int is a number without its fraction.
func (d Detail) Int(key string) (int, bool) {
	n, ok := d.Number(key)
	return int(n), ok
}

// Truth is false if there is no such truth value.
func (d Detail) Truth(key string) bool {
	is, _ := d[key].(bool)
	return is
}

// Mapping is nil if there is no such mapping.
func (d Detail) Mapping(key string) Detail {
	switch mapping := d[key].(type) {
	case map[string]any:
		return mapping
	case Detail:
		return mapping
	}
	return nil
}
