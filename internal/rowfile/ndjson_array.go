package rowfile

// appendArray turns the text of a JSON array, which is known to be valid, into that of an array of the server (manual, "Arrays", Array Input and
// Output Syntax): strings in quotes, null as NULL, inner arrays as further dimensions, objects as the JSON text of an element. Where elements are
// documents strings are JSON texts too. at is where the text begins, for faults.
func appendArray(dst, s []byte, at int, delimiter byte, documents bool) ([]byte, *jsonFault) {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '[':
			dst = append(dst, '{')
			i++
		case c == ']':
			dst = append(dst, '}')
			i++
		case c == ',':
			dst = append(dst, delimiter)
			i++
		case c == '"':
			end, _, fault := jsonString(s, i)
			if fault != nil {
				return dst, fault
			}
			begin := len(dst)
			if documents {
				dst = append(dst, s[i:end]...)
			} else if dst, fault = jsonUnescape(dst, s[i+1:end-1], at+i+1); fault != nil {
				return dst, fault
			}
			dst = quoteElement(dst, begin)
			i = end
		case c == '{':
			end, _, fault := jsonValue(s, i, nil)
			if fault != nil {
				return dst, fault
			}
			begin := len(dst)
			dst = quoteElement(append(dst, s[i:end]...), begin)
			i = end
		case c == 'n':
			dst = append(dst, "NULL"...)
			i += len("null")
		case jsonClass[c]&jsonSpace != 0:
			i++
		default: // numbers, true and false
			begin := i
			for i < len(s) && s[i] != ',' && s[i] != ']' && jsonClass[s[i]]&jsonSpace == 0 {
				i++
			}
			dst = append(dst, s[begin:i]...)
		}
	}
	return dst, nil
}

// quoteElement puts what was appended to dst from begin on into quotes, with backslashes before quotes and backslashes.
func quoteElement(dst []byte, begin int) []byte {
	special := 0
	for _, c := range dst[begin:] {
		if c == '"' || c == '\\' {
			special++
		}
	}
	from := len(dst)
	for range special + 2 {
		dst = append(dst, '"')
	}
	// From behind, so that nothing is overwritten before it was moved.
	to := len(dst) - 1
	for from--; from >= begin; from-- {
		to--
		dst[to] = dst[from]
		if c := dst[from]; c == '"' || c == '\\' {
			to--
			dst[to] = '\\'
		}
	}
	dst[begin] = '"'
	return dst
}
