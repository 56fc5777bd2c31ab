package planner

const megabyte = 1 << 20

// The size of one range: large enough that its own transaction, or its own COPY, costs nothing (about 1 ms against 0.3 s for 64 MB), small
// enough that connections end together. smallestRange is the least that is worth a range.
const (
	largestRange  = 256 * megabyte
	usualRange    = 64 * megabyte
	smallestRange = 8 * megabyte
	// perConnection is how many ranges each connection finds at least, so that one heavy range does not keep the others waiting.
	perConnection = 4
	// mostRanges bounds the length of a plan: ranges of 256 MB cover 16 TB with that many.
	mostRanges = 1 << 16
)

// rangeSize is the wanted number of bytes in one range, heap and TOAST together: heap pages alone would put a table of 3 GB with
// 900 GB of TOAST into a handful of ranges.
func rangeSize(bytes int64, connections int, asked int64) int64 {
	if asked > 0 {
		return asked
	}
	n := int64(max(connections, 1))
	size := min(max(bytes/(4*perConnection*n), usualRange), largestRange)
	if bytes/size < perConnection*n {
		size = max(bytes/(perConnection*n), smallestRange)
	}
	return size
}

// cut divides the parts into ranges of about size bytes; size 0 leaves each part whole. Every page of a part is in exactly one range, and the
// last one has no end, so that pages added since the facts were read are in it.
func cut(parts []Part, size int64) []Range {
	var ranges []Range
	for i := range parts {
		ranges = cutPart(ranges, i, &parts[i], size)
	}
	return ranges
}

func cutPart(ranges []Range, index int, p *Part, size int64) []Range {
	pages := pagesEach(p, size)
	if pages == 0 {
		return append(ranges, Range{Part: index, Bytes: p.Bytes})
	}
	perPage := float64(p.Bytes) / float64(p.Pages)
	for from := int64(0); from < p.Pages; from += pages {
		r := Range{Part: index, FromPage: from, ToPage: from + pages}
		held := pages
		if from+pages >= p.Pages {
			r.ToPage, held = 0, p.Pages-from
		}
		r.Bytes = int64(float64(held) * perPage)
		ranges = append(ranges, r)
	}
	return ranges
}

// pagesEach is how many pages of a part go into one range, 0 when all of them do.
func pagesEach(p *Part, size int64) int64 {
	if size <= 0 || p.Pages <= 1 || p.Bytes <= size {
		return 0
	}
	perPage := float64(p.Bytes) / float64(p.Pages)
	pages := max(int64(float64(size)/perPage+0.5), 1, (p.Pages+mostRanges-1)/mostRanges)
	if pages >= p.Pages {
		return 0
	}
	return pages
}

// countRanges is the length of what cut would return.
func countRanges(parts []Part, size int64) int {
	n := 0
	for i := range parts {
		if pages := pagesEach(&parts[i], size); pages > 0 {
			n += int((parts[i].Pages + pages - 1) / pages)
		} else {
			n++
		}
	}
	return n
}

// wellFormed reports whether recorded ranges speak of these parts.
func wellFormed(ranges []Range, parts []Part) bool {
	for _, r := range ranges {
		if r.Part < 0 || r.Part >= len(parts) || r.FromPage < 0 || r.ToPage < 0 {
			return false
		}
	}
	return true
}
