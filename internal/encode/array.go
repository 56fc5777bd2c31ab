package encode

func arrayEncoder(t *Type, s Settings) Encoder { return nil }
