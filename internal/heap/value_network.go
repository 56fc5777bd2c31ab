package heap

var networkMakers = map[uint32]func(*Datatype) Maker{829: same(copier(6)), 774: same(makeMac8), 869: same(makeInet), 650: same(makeCidr)}

// makeMac8 takes six bytes too, which get two in their middle (macaddr8_recv of mac8.c).
func makeMac8(dst, payload []byte) ([]byte, error) {
	switch {
	case len(payload) == 6:
		dst = append(dst, payload[:3]...)
		return append(append(dst, 0xFF, 0xFE), payload[3:]...), nil
	case len(payload) < 6:
		return dst, errShort
	}
	return copier(8)(dst, payload)
}

// The families of addresses (PGSQL_AF_INET and PGSQL_AF_INET6 of utils/inet.h).
const (
	familyV4 = 2
	familyV6 = 3
)

func makeInet(dst, payload []byte) ([]byte, error) { return appendAddress(dst, payload, false) }

func makeCidr(dst, payload []byte) ([]byte, error) { return appendAddress(dst, payload, true) }

// appendAddress makes family, bits and address of family, bits, whether a cidr, length and address (network_recv of network.c).
func appendAddress(dst, payload []byte, cidr bool) ([]byte, error) {
	name := "inet"
	if cidr {
		name = "cidr"
	}
	bad := func(what string) error {
		return &Refused{State: stateInvalidBinary, Message: "invalid " + what + ` in external "` + name + `" value`}
	}
	if len(payload) < 4 {
		return dst, errShort
	}
	family, bits, size := payload[0], int(payload[1]), 4
	switch family {
	case familyV4:
	case familyV6:
		size = 16
	default:
		return dst, bad("address family")
	}
	switch {
	case bits > 8*size:
		return dst, bad("bits")
	case int(payload[3]) != size:
		return dst, bad("length")
	}
	address := payload[4:]
	if err := sized(address, size); err != nil {
		return dst, err
	}
	if cidr && !hostless(address, bits) {
		return dst, &Refused{State: stateInvalidBinary, Message: `invalid external "cidr" value`, Detail: "Value has bits set to right of mask."}
	}
	return append(append(dst, family, byte(bits)), address...), nil
}

// hostless reports whether all bits behind the mask are 0 (addressOK of network.c).
func hostless(address []byte, bits int) bool {
	for i, b := range address {
		if keep := min(max(bits-8*i, 0), 8); b&(0xFF>>keep) != 0 {
			return false
		}
	}
	return true
}
