package encode

func rangeEncoder(t *Type, s Settings) Encoder { return nil }
