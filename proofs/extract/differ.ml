(* Which entries of two inputs may differ, from the text that says so (docs/formats.md), as an automaton.
   States have the numbers that certificates use: in the order in which words lead to them, short ones first and "=" before "~". *)

open Checker
open Reading

let max_number = 1000 and max_depth = 150 and max_parts = 20_000 and max_states = 5_000

(* ---- Patterns ---- *)

type part = Letter of char | Choice of part list list | Repeated of part * int * int option

let misread text = refuse "the pattern %s is not written as patterns are" text

let is_digit c = '0' <= c && c <= '9'

(* A choice without spaces, from a place on, and where it ends. *)
let rec choice text at left =
  let n = String.length text in
  let rec go ways way at =
    if at >= n || text.[at] = ')' then List.rev (List.rev way :: ways), at
    else if text.[at] = '|' then go (List.rev way :: ways) [] (at + 1)
    else let p, at = part text at left in go ways (p :: way) at in
  let ways, at = go [] [] at in
  Choice ways, at
and part text at left =
  let n = String.length text in
  let p, at = match text.[at] with
    | '=' -> Letter '=', at + 1
    | '~' | '.' -> Letter '~', at + 1
    | '(' when left > 0 ->
        let p, at = choice text (at + 1) (left - 1) in
        if at >= n then misread text;
        p, at + 1
    | _ -> misread text in
  repeated text p at left
and repeated text p at left =
  let n = String.length text in
  let again least most at = if left <= 0 then misread text else repeated text (Repeated (p, least, most)) at (left - 1) in
  if at >= n then p, at
  else match text.[at] with
    | '*' -> again 0 None (at + 1)
    | '+' -> again 1 None (at + 1)
    | '?' -> again 0 (Some 1) (at + 1)
    | '{' ->
        let number from =
          let rec stop k = if k < n && is_digit text.[k] then stop (k + 1) else k in
          let k = stop from in
          (if k = from || k - from > 9 then None else Some (int_of_string ("0u" ^ String.sub text from (k - from)))), k in
        let least, k = number (at + 1) in
        let least = match least with Some m -> m | None -> misread text in
        let most, k =
          if k < n && text.[k] = ',' then number (k + 1) else Some least, k in
        if k >= n || text.[k] <> '}' then misread text;
        if max least (Option.value most ~default:0) > max_number || (match most with Some m -> m < least | None -> false) then misread text;
        again least most (k + 1)
    | _ -> p, at

(* ---- A machine that guesses: each node has the letter that leads on (none: a fork), and the nodes that it leads to.
   Node 0 is the end, and every node leads there, so whatever is read can be continued. ---- *)

type machine = { mutable size : int; letters : (int, char option) Hashtbl.t; after : (int, int list) Hashtbl.t }

let node m letter after =
  if m.size >= max_parts then refuse "a pattern has more than %d parts with its repetitions written out" max_parts;
  Hashtbl.replace m.letters m.size letter;
  Hashtbl.replace m.after m.size after;
  m.size <- m.size + 1;
  m.size - 1

(* The node where a part begins that another node follows. *)
let rec built m p after = match p with
  | Letter c -> node m (Some c) [ after ]
  | Choice ways -> node m None (List.map (fun way -> List.fold_right (built m) way after) ways)
  | Repeated (p, least, Some most) -> copies m p least (optionals m p (most - least) after)
  | Repeated (p, least, None) ->
      let fork = node m None [ after ] in
      let first = built m p fork in
      Hashtbl.replace m.after fork [ after; first ];
      if least = 0 then fork else copies m p (least - 1) first
and copies m p k after = if k = 0 then after else copies m p (k - 1) (built m p after)
and optionals m p k after =
  let rec go k begin_ = if k = 0 then begin_ else let first = built m p begin_ in go (k - 1) (node m None [ after; first ]) in
  go k after

module S = Set.Make (Int)
module M = Map.Make (S)

(* The nodes with letters that may come next, if these nodes may. *)
let ahead m nodes =
  let rec go seen = function
    | [] -> seen
    | k :: rest when S.mem k seen -> go seen rest
    | k :: rest -> go (S.add k seen) (if Hashtbl.find m.letters k = None then Hashtbl.find m.after k @ rest else rest) in
  S.filter (fun k -> Hashtbl.find m.letters k <> None) (go S.empty nodes)

(* States in the order in which words lead to them from the first one, with where "=" and "~" lead. *)
let explored (type a) (module M : Map.S with type key = a) (first : a) (ways : a -> a option * a option) =
  let number = ref (M.singleton first 0) and queue = Queue.create () and found = ref [] in
  Queue.add first queue;
  let numbered = Option.map (fun s ->
    match M.find_opt s !number with
    | Some k -> k
    | None ->
        let k = M.cardinal !number in
        if k > max_states then refuse "the automaton of a pattern has more than %d states" max_states;
        number := M.add s k !number; Queue.add s queue; k) in
  while not (Queue.is_empty queue) do
    let equal, other = ways (Queue.take queue) in
    let equal = numbered equal in
    found := (equal, numbered other) :: !found
  done;
  List.rev !found

let subsets m start =
  let ways states =
    let by letters =
      let taken = List.filter (fun k -> List.mem (Hashtbl.find m.letters k) letters) (S.elements states) in
      if taken = [] then None else Some (ahead m (List.concat_map (Hashtbl.find m.after) taken)) in
    by [ Some '='; Some '~' ], by [ Some '~' ] in
  explored (module M) (ahead m [ start ]) ways

module I = Map.Make (Int)

(* One state in place of all that allow the same. *)
let least moves =
  let moves = Array.of_list moves in
  let rec settle kind kinds =
    let look k = let to_ = Option.map (fun j -> kind.(j)) in kind.(k), to_ (fst moves.(k)), to_ (snd moves.(k)) in
    let names = Hashtbl.create 97 in
    let next = Array.mapi (fun k _ ->
      let l = look k in
      match Hashtbl.find_opt names l with Some n -> n | None -> let n = Hashtbl.length names in Hashtbl.add names l n; n) moves in
    if Hashtbl.length names = kinds then kind else settle next (Hashtbl.length names) in
  let kind = settle (Array.map (fun _ -> 0) moves) 1 in
  let one = Hashtbl.create 97 in
  Array.iteri (fun k c -> if not (Hashtbl.mem one c) then Hashtbl.add one c k) kind;
  let ways c = let a, b = moves.(Hashtbl.find one c) in let to_ = Option.map (fun j -> kind.(j)) in to_ a, to_ b in
  explored (module I) kind.(0) ways

(* ---- The text ---- *)

let pattern text : pattern =
  if text = "all" then every_entry
  else
    let kind, rest = match String.index_opt text '=' with
      | Some i -> String.sub text 0 i, String.sub text (i + 1) (String.length text - i - 1)
      | None -> text, "" in
    if kind = "pattern" then begin
      let written = String.concat "" (String.split_on_char ' ' rest) in
      if written = "" then misread text;
      let whole, at = choice written 0 max_depth in
      if at < String.length written then misread text;
      let m = { size = 0; letters = Hashtbl.create 97; after = Hashtbl.create 97 } in
      ignore (node m None []);
      least (subsets m (built m whole 0))
    end
    else begin
      if not (List.mem kind [ "entries"; "window" ]) || rest = "" || String.length rest > 9 || not (String.for_all is_digit rest) then
        refuse "%s does not say which entries differ" text;
      let n = int_of_string ("0u" ^ rest) in
      if n < 1 || n > max_number then refuse "%s has a number that is not from 1 to %d" text max_number;
      if kind = "entries" then entries n else window n
    end

(* For each state those that must allow no more, if where "~" leads from any state is to allow no more than where "=" does. *)
let lesser (p : pattern) =
  let moves = Array.of_list p in
  let found = Array.make (Array.length moves) [] in
  let rec need j k = match j, k with
    | Some j, Some k when not (List.mem j found.(k)) ->
        found.(k) <- j :: found.(k);
        need (fst moves.(j)) (fst moves.(k));
        need (snd moves.(j)) (snd moves.(k))
    | _ -> () in
  Array.iter (fun (equal, other) -> need other equal) moves;
  Array.to_list found
