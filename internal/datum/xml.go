package datum

import "bytes"

// printXML prints an xml value as a server with libxml does: the XML declaration loses its encoding, and goes altogether where it
// says nothing but version 1.0, with one newline behind it (xml_out_internal in xml.c). A value whose declaration cannot be read
// is passed on as it is.
func printXML(dst, value []byte) ([]byte, error) {
	d := declaration{text: value}
	if !d.parse() {
		return append(dst, value...), nil
	}
	rest := value[d.at:]
	if d.version != nil && string(d.version) != "1.0" || d.standalone != "" {
		version := d.version
		if version == nil {
			version = []byte("1.0")
		}
		dst = append(append(append(dst, `<?xml version="`...), version...), '"')
		if d.standalone != "" {
			dst = append(append(append(dst, ` standalone="`...), d.standalone...), '"')
		}
		dst = append(dst, "?>"...)
	} else if len(rest) > 0 && rest[0] == '\n' {
		rest = rest[1:]
	}
	return append(dst, rest...), nil
}

// declaration reads an XML declaration.
type declaration struct {
	text       []byte
	at         int // behind the declaration; 0 without one
	version    []byte
	standalone string
}

// parse reports whether the declaration is well-formed, or there is none.
func (d *declaration) parse() bool {
	const open = "<?xml"
	if !bytes.HasPrefix(d.text, []byte(open)) {
		return true
	}
	d.at = len(open)
	if d.at < len(d.text) && nameCharacter(d.text[d.at]) {
		d.at = 0 // another processing instruction, such as xml-stylesheet
		return true
	}
	version, ok := d.attribute("version")
	if !ok || version == nil {
		return false
	}
	d.version = version
	if _, ok = d.attribute("encoding"); !ok {
		return false
	}
	standalone, ok := d.attribute("standalone")
	if !ok || standalone != nil && string(standalone) != "yes" && string(standalone) != "no" {
		return false
	}
	d.standalone = string(standalone)
	d.blanks()
	if !bytes.HasPrefix(d.text[d.at:], []byte("?>")) {
		return false
	}
	d.at += 2
	for _, c := range d.text[:d.at] {
		if c > 127 {
			return false
		}
	}
	return true
}

// attribute reads an attribute with blanks before it; without it the value is nil.
func (d *declaration) attribute(name string) (value []byte, ok bool) {
	before := d.at
	blanks := d.blanks()
	if !bytes.HasPrefix(d.text[d.at:], []byte(name)) {
		d.at = before
		return nil, true
	}
	if !blanks {
		return nil, false
	}
	d.at += len(name)
	d.blanks()
	if d.at >= len(d.text) || d.text[d.at] != '=' {
		return nil, false
	}
	d.at++
	d.blanks()
	if d.at >= len(d.text) || d.text[d.at] != '\'' && d.text[d.at] != '"' {
		return nil, false
	}
	end := bytes.IndexByte(d.text[d.at+1:], d.text[d.at])
	if end < 0 {
		return nil, false
	}
	value = d.text[d.at+1 : d.at+1+end]
	d.at += end + 2
	return value, true
}

func (d *declaration) blanks() bool {
	before := d.at
	for d.at < len(d.text) && bytes.IndexByte([]byte(" \t\r\n"), d.text[d.at]) >= 0 {
		d.at++
	}
	return d.at > before
}

func nameCharacter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80 || bytes.IndexByte([]byte("._:-"), c) >= 0
}
