(* JSON as certificates are written in: UTF-8, each key once, all numbers integers, not nested deeply. *)

type t = Null | Bool of bool | Int of int | Text of string | List of t list | Object of (string * t) list

exception Broken of string

let broken fmt = Printf.ksprintf (fun s -> raise (Broken s)) fmt

let max_depth = 64
let max_numeral = 15

(* The character of a text in UTF-8 at a byte, and how many bytes it has: no overlong forms, no surrogates,
   nothing above U+10FFFF. *)
let character s i =
  let next k = match if i + k < String.length s then Char.code s.[i + k] else 0 with
    | c when c land 0xC0 = 0x80 -> c land 0x3F
    | _ -> broken "not UTF-8" in
  let from least u k = if u < least || (u >= 0xD800 && u < 0xE000) || u > 0x10FFFF then broken "not UTF-8" else u, k in
  match Char.code s.[i] with
  | c when c < 0x80 -> c, 1
  | c when c land 0xE0 = 0xC0 -> from 0x80 (((c land 0x1F) lsl 6) lor next 1) 2
  | c when c land 0xF0 = 0xE0 -> from 0x800 (((c land 0x0F) lsl 12) lor (next 1 lsl 6) lor next 2) 3
  | c when c land 0xF8 = 0xF0 ->
      from 0x10000 (((c land 0x07) lsl 18) lor (next 1 lsl 12) lor (next 2 lsl 6) lor next 3) 4
  | _ -> broken "not UTF-8"

let check_utf8 s =
  let i = ref 0 in
  while !i < String.length s do i := !i + snd (character s !i) done

let parse (s : string) : t =
  check_utf8 s;
  let n = String.length s in
  let at = ref 0 in
  let peek () = if !at < n then s.[!at] else '\000' in
  let rec blank () = match peek () with ' ' | '\t' | '\n' | '\r' when !at < n -> incr at; blank () | _ -> () in
  let expect c = if !at < n && s.[!at] = c then incr at else broken "expected '%c' at byte %d" c !at in
  let word w v =
    let k = String.length w in
    if !at + k <= n && String.sub s !at k = w then (at := !at + k; v) else broken "unknown word at byte %d" !at in
  let hex () =
    if !at + 4 > n then broken "broken escape at byte %d" !at;
    let digit c = match c with
      | '0' .. '9' -> Char.code c - 48 | 'a' .. 'f' -> Char.code c - 87 | 'A' .. 'F' -> Char.code c - 55
      | _ -> broken "broken escape at byte %d" !at in
    let v = ref 0 in
    for i = !at to !at + 3 do v := (16 * !v) + digit s.[i] done;
    at := !at + 4; !v in
  let text () =
    expect '"';
    let b = Buffer.create 16 in
    let rec go () =
      if !at >= n then broken "a text is not closed";
      let c = s.[!at] in
      incr at;
      match c with
      | '"' -> Buffer.contents b
      | '\\' ->
          let e = peek () in
          incr at;
          (match e with
           | '"' | '\\' | '/' -> Buffer.add_char b e
           | 'b' -> Buffer.add_char b '\b' | 'f' -> Buffer.add_char b '\012' | 'n' -> Buffer.add_char b '\n'
           | 'r' -> Buffer.add_char b '\r' | 't' -> Buffer.add_char b '\t'
           | 'u' ->
               let u = hex () in
               let u =
                 if u >= 0xD800 && u < 0xDC00 then begin
                   expect '\\'; expect 'u';
                   let v = hex () in
                   if v < 0xDC00 || v > 0xDFFF then broken "half of a surrogate pair";
                   0x10000 + ((u - 0xD800) lsl 10) + (v - 0xDC00)
                 end else u in
               if not (Uchar.is_valid u) then broken "half of a surrogate pair";
               Buffer.add_utf_8_uchar b (Uchar.of_int u)
           | _ -> broken "broken escape at byte %d" !at);
          go ()
      | c when Char.code c < 32 -> broken "a control character in a text"
      | c -> Buffer.add_char b c; go ()
    in
    go () in
  let number () =
    let from = !at in
    if peek () = '-' then incr at;
    let first = !at in
    while !at < n && (match s.[!at] with '0' .. '9' -> true | _ -> false) do incr at done;
    if !at = first then broken "unknown word at byte %d" from;
    if s.[first] = '0' && !at > first + 1 then broken "a number begins with 0";
    (match peek () with '.' | 'e' | 'E' when !at < n -> broken "a number is no integer; rationals are texts" | _ -> ());
    if !at - from > max_numeral then broken "an integer is too long; rationals are texts";
    Int (int_of_string (String.sub s from (!at - from))) in
  let rec value depth =
    if depth > max_depth then broken "nested too deeply";
    blank ();
    if !at >= n then broken "the text ends too early";
    match s.[!at] with
    | '{' ->
        incr at;
        let found = parts '}' (fun () -> blank (); let k = text () in blank (); expect ':'; (k, value (depth + 1))) in
        let keys = List.sort compare (List.rev_map fst found) in
        let rec twice = function a :: (b :: _ as l) -> a = b || twice l | _ -> false in
        if twice keys then broken "an object has a key twice";
        Object found
    | '[' -> incr at; List (parts ']' (fun () -> value (depth + 1)))
    | '"' -> Text (text ())
    | 't' -> word "true" (Bool true)
    | 'f' -> word "false" (Bool false)
    | 'n' -> word "null" Null
    | _ -> number ()
  and parts : 'a. char -> (unit -> 'a) -> 'a list = fun close one ->
    blank ();
    if !at < n && peek () = close then (incr at; [])
    else begin
      let found = ref [ one () ] in
      blank ();
      while !at < n && peek () = ',' do incr at; found := one () :: !found; blank () done;
      expect close;
      List.rev !found
    end
  in
  let v = value 0 in
  blank ();
  if !at < n then broken "more text behind the value";
  v

(* A text as Python's json writes it: all but ASCII escaped. *)
let quoted s =
  let b = Buffer.create (String.length s + 2) in
  Buffer.add_char b '"';
  let rec go i =
    if i < String.length s then begin
      let u, k = character s i in
      (match u with
       | 0x22 -> Buffer.add_string b "\\\"" | 0x5C -> Buffer.add_string b "\\\\" | 0x0A -> Buffer.add_string b "\\n"
       | 0x0D -> Buffer.add_string b "\\r" | 0x09 -> Buffer.add_string b "\\t" | 0x08 -> Buffer.add_string b "\\b"
       | 0x0C -> Buffer.add_string b "\\f"
       | u when u >= 0x20 && u < 0x7F -> Buffer.add_char b (Char.chr u)
       | u when u < 0x10000 -> Printf.bprintf b "\\u%04x" u
       | u ->
           let v = u - 0x10000 in
           Printf.bprintf b "\\u%04x\\u%04x" (0xD800 + (v lsr 10)) (0xDC00 + (v land 0x3FF)));
      go (i + k)
    end in
  go 0;
  Buffer.add_char b '"';
  Buffer.contents b
