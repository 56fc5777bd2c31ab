package datum

import (
	"encoding/binary"
	"strconv"
)

// inet and cidr are an inet_struct (utils/inet.h): family, number of bits of the netmask, 4 or 16 bytes of address. Families are 2
// and 3 on every platform (PGSQL_AF_INET, PGSQL_AF_INET6).

func printInet(dst, value []byte) ([]byte, error) { return appendNetwork(dst, value, false) }

func printCidr(dst, value []byte) ([]byte, error) { return appendNetwork(dst, value, true) }

// appendNetwork writes the address, and the netmask unless it is an inet's of all bits (network_out in network.c).
func appendNetwork(dst, value []byte, always bool) ([]byte, error) {
	if len(value) < 2 {
		return dst, cutOff("inet")
	}
	family, mask, address := value[0], int(value[1]), value[2:]
	var all int
	switch {
	case family == 2 && len(address) == 4 && mask <= 32:
		all = 32
		dst = appendIPv4(dst, address)
	case family == 3 && len(address) == 16 && mask <= 128:
		all = 128
		dst = appendIPv6(dst, address)
	default:
		return dst, malformed("inet", "family, netmask and length do not agree")
	}
	if always || mask != all {
		dst = strconv.AppendUint(append(dst, '/'), uint64(mask), 10)
	}
	return dst, nil
}

func appendIPv4(dst, address []byte) []byte {
	for i, c := range address {
		if i > 0 {
			dst = append(dst, '.')
		}
		dst = strconv.AppendUint(dst, uint64(c), 10)
	}
	return dst
}

// appendIPv6 shortens the first longest run of two or more zero words and writes IPv4 in its own way where that run leaves it
// behind (inet_net_ntop_ipv6 in inet_net_ntop.c).
func appendIPv6(dst, address []byte) []byte {
	var words [8]uint16
	for i := range words {
		words[i] = binary.BigEndian.Uint16(address[2*i:])
	}
	at, length := -1, 1
	for i := 0; i < len(words); i++ {
		run := i
		for run < len(words) && words[run] == 0 {
			run++
		}
		if run-i > length {
			at, length = i, run-i
		}
		if run > i {
			i = run
		}
	}
	for i := range words {
		if i == at {
			dst = append(dst, ':')
		}
		if at >= 0 && i >= at && i < at+length {
			continue
		}
		if i > 0 {
			dst = append(dst, ':')
		}
		if i == 6 && at == 0 && (length == 6 || length == 5 && words[5] == 0xffff) {
			return appendIPv4(dst, address[12:])
		}
		dst = strconv.AppendUint(dst, uint64(words[i]), 16)
	}
	if at >= 0 && at+length == len(words) {
		dst = append(dst, ':')
	}
	return dst
}

func printMacaddr(dst, value []byte) ([]byte, error) {
	if len(value) != 6 {
		return dst, cutOff("macaddr")
	}
	return appendMAC(dst, value), nil
}

func printMacaddr8(dst, value []byte) ([]byte, error) {
	if len(value) != 8 {
		return dst, cutOff("macaddr8")
	}
	return appendMAC(dst, value), nil
}

func appendMAC(dst, address []byte) []byte {
	for i, c := range address {
		if i > 0 {
			dst = append(dst, ':')
		}
		dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
	}
	return dst
}

// printBits prints a VarBit (utils/varbit.h): the number of bits, then the bits from the highest of the first byte on.
func printBits(dst, value []byte) ([]byte, error) {
	if len(value) < 4 {
		return dst, cutOff("bit string")
	}
	count, bits := binary.LittleEndian.Uint32(value), value[4:]
	if uint64(count) > uint64(len(bits))*8 || count > maximumOutput {
		return dst, malformed("bit string", "more bits than bytes hold")
	}
	for i := range count {
		dst = append(dst, '0'+bits[i/8]>>(7-i%8)&1)
	}
	return dst, nil
}
