package encode

import "testing"

func TestBedReadsTypes(t *testing.T) {
	b := newBed(t)
	b.exec(t, "CREATE TYPE mood AS ENUM ('sad', 'ok')", "CREATE DOMAIN price AS numeric(8, 2)")
	array := b.probe(t, "varchar(7)[]")
	if array.Class != Array || array.Elem == nil || array.Elem.Name != "character varying" || array.Elem.Modifier != 11 {
		t.Errorf("array: %+v", array.Type)
	}
	if mood := b.probe(t, "mood"); mood.Class != Enum || len(mood.Labels) != 2 || mood.Labels[0] != "sad" {
		t.Errorf("enum: %+v", mood.Type)
	}
	if price := b.probe(t, "price"); price.Class != Domain || price.Elem.OID != 1700 || price.Elem.Modifier != 8<<16+2+4 {
		t.Errorf("domain: %+v", price.Type)
	}
	if days := b.probe(t, "daterange"); days.Class != Range || !days.Discrete || !days.Plain || days.Elem.Name != "date" {
		t.Errorf("range: %+v", days.Type)
	}
	if spans := b.probe(t, "nummultirange"); spans.Class != Multirange || spans.Range == nil || spans.Range.Elem.Name != "numeric" {
		t.Errorf("multirange: %+v", spans.Type)
	}
	if box := b.probe(t, "box[]"); box.Delim != ';' || box.Receive != "array_recv" {
		t.Errorf("box[]: %+v", box.Type)
	}
}

func TestBedAsksTheInputFunction(t *testing.T) {
	b := newBed(t)
	p := b.probe(t, "varchar(2)")
	got := b.ask(t, p, []string{"ab  ", "abc"})
	if string(got[0].sent) != "ab" || got[0].refusal != nil {
		t.Errorf("excess blanks: %+v", got[0])
	}
	want := Invalid{State: "22001", Message: "value too long for type character varying(2)"}
	if got[1].refusal == nil || *got[1].refusal != want {
		t.Errorf("too long: %+v", got[1])
	}
	sent, err := b.receive(t, p, [][]byte{[]byte("x"), []byte("yz")})
	if err != nil || len(sent) != 2 || string(sent[1]) != "yz" {
		t.Errorf("receive: %q, %v", sent, err)
	}
	if _, err := b.receive(t, p, [][]byte{[]byte("x"), []byte("xyz")}); err == nil {
		t.Error("three characters were taken for varchar(2)")
	}
}
