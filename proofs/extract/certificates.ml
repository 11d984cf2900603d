(* Certificates of the kinds private and private-in-parts in JSON, for the checker, and the claims of those of the kind relational. *)

open Checker
open Reading

(* How the entry differs that a step reads.  Where it does not matter which do, nothing is written: any may. *)
let differs (a : Automata.t) =
  let states = Array.of_list a.automaton.states in
  let reads = Array.of_list (List.map (fun t -> states.(t.src).reads) a.automaton.transitions) in
  fun where transition letter ->
  match letter with
  | None when not a.unfolds -> if reads.(transition) then Any else Same
  | None when reads.(transition) -> refuse "%s has no letter" where
  | Some _ when not reads.(transition) -> refuse "%s has a letter" where
  | None -> Same
  | Some _ when not a.unfolds -> refuse "%s has a letter" where
  | Some l -> (match text where l with
      | "=" -> Same | "~" -> Any | "-" -> Least | "+" -> Largest
      | l -> refuse "%s has the letter %s" where l)

let edges differs where rule nodes transitions j =
  let seen = Hashtbl.create 97 in
  List.mapi (fun e item ->
    let where = Printf.sprintf "%s[%d]" where e in
    match items where item with
    | n :: t :: m :: ([] | [ _ ] as letter) ->
        let n = number where nodes n and t = number where transitions t and m = number where nodes m in
        let l = differs where t (match letter with [ l ] -> Some l | _ -> None) in
        let key = match rule with `One_for_each_way -> (n, t, l, 0) | `Different -> (n, t, l, m) in
        if Hashtbl.mem seen key then refuse "%s is given twice" where;
        Hashtbl.add seen key ();
        ((n, (t, l)), m)
    | l -> refuse "%s has %d items, not 3 or 4" where (List.length l))
    (items where j)

(* Facts as comparisons, or a pair that is apart.  In the paper's automata they are about variables. *)
let fact (a : Automata.t) where j =
  let nothing = { negative = false; whence = Zero; plus = zero } in
  let compared low high strict = { low; high; strict } in
  match items where j with
  | [ r; x; y ] ->
      let r = text where r and x = text where x and y = text where y in
      let value s =
        let n = String.length s in
        match a.variable s with
        | Some x -> { nothing with whence = Held x }
        | None when a.plain -> refuse "%s has the fact %s %s %s" where x r y
        | None when n > 0 && s.[0] = '-' && a.variable (String.sub s 1 (n - 1)) <> None ->
            { nothing with negative = true; whence = Held (Option.get (a.variable (String.sub s 1 (n - 1)))) }
        | None -> { nothing with plus = rational where (Json.Text s) } in
      let v = value x and w = value y in
      (match r with
       | "<" when not (a.plain && x = y) -> [ compared v w true ], []
       | "=" when not (a.plain && x = y) -> [ compared v w false; compared w v false ], []
       | "<=" when not a.plain -> [ compared v w false ], []
       | "!=" when not a.plain -> [], [ v, w ]
       | _ -> refuse "%s has the fact %s %s %s" where x r y)
  | l -> refuse "%s has %d items, not 3" where (List.length l)

let bnode (a : Automata.t) where i j =
  let where = Printf.sprintf "%s.nodes[%d]" where i in
  let l = members where [ "state" ] ("facts" :: if a.unfolds then [ "differ"; "registers" ] else []) j in
  let facts = optional "facts" l (fun v -> List.map (fact a (where ^ ".facts")) (items where v)) [] in
  { b_state = a.state (text where (List.assoc "state" l));
    b_facts = List.concat_map fst facts; b_distinct = List.concat_map snd facts;
    b_apart = optional "differ" l (number where (List.length a.automaton.differ)) 0;
    b_known = optional "registers" l (fun v -> List.map (fun (r, q) ->
      match a.register r with
      | Some n -> n, rational where q
      | None -> refuse "%s is about %s, which is no register" where r) (table where v)) [] }

let intervals where own j =
  List.map (fun (x, v) ->
    match own x with
    | None -> refuse "%s is about %s, which is no variable of it" where x
    | Some n -> n, (match v with Json.Null -> None | v -> Some (interval where v)))
    (table where j)

let graph (a : Automata.t) where own priced base lift =
  let transitions = List.length a.automaton.transitions in
  let differs = differs a in
  let wb = where ^ ".base" and wl = where ^ ".lift" in
  let b = members wb [ "nodes"; "edges" ] [] base in
  let nodes = List.mapi (bnode a wb) (items wb (List.assoc "nodes" b)) in
  let l = members wl [ "cover"; "shifts"; "nodes"; "edges" ] [] lift in
  let lnode i j =
    let where = Printf.sprintf "%s.nodes[%d]" wl i in
    let n = members where (if priced then [ "base"; "potential" ] else [ "base" ]) [ "shifts" ] j in
    { l_base = number where (List.length nodes) (List.assoc "base" n);
      l_pot = optional "potential" n (rational where) zero;
      l_own = optional "shifts" n (intervals where own) [] } in
  let l_nodes = List.mapi lnode (items wl (List.assoc "nodes" l)) in
  { b_nodes = nodes;
    b_edges = edges differs (wb ^ ".edges") `One_for_each_way (List.length nodes) transitions (List.assoc "edges" b);
    forward = (match text wl (List.assoc "cover" l) with
      | "forward" -> true | "backward" -> false | s -> refuse "%s.cover is %s" wl s);
    everywhere = intervals (wl ^ ".shifts") own (List.assoc "shifts" l); l_nodes;
    l_edges = edges differs (wl ^ ".edges") `Different (List.length l_nodes) transitions (List.assoc "edges" l) }

let claim where l =
  let low, high = interval where (List.assoc "adjacency" l) in
  { c_low = low; c_high = high; c_sens = rational where (List.assoc "sensitivity" l);
    c_D = rational where (List.assoc "D" l) }

let head = [ "kind"; "adjacency"; "sensitivity"; "D" ]

let private_ (a : Automata.t) where j =
  let l = members where (head @ [ "base"; "lift" ]) [] j in
  { c_claim = claim where l; c_hints = a.hints;
    c_graph = graph a where a.variable true (List.assoc "base" l) (List.assoc "lift" l) }

let in_parts (a : Automata.t) where j =
  let l = members where (head @ [ "potentials"; "parts" ]) [] j in
  let pots = table where (List.assoc "potentials" l) in
  if List.sort compare (List.map fst pots) <> List.sort compare a.names then
    refuse "%s.potentials are not those of the control states" where;
  let by_name = Hashtbl.create 97 in
  List.iter (fun (q, v) -> Hashtbl.add by_name q v) pots;
  let taken = Hashtbl.create 97 in
  let part k j =
    let where = Printf.sprintf "%s.parts[%d]" where k in
    let p = members where [ "variables"; "base"; "lift" ] [] j in
    let mine = Hashtbl.create 97 in
    let names = List.map (text where) (items where (List.assoc "variables" p)) in
    let numbers = List.map (fun x -> match a.variable x with
      | Some n when not (Hashtbl.mem taken n) -> Hashtbl.add taken n (); Hashtbl.add mine x n; n
      | _ -> refuse "%s has %s, which is no variable or is in another part" where x) names in
    numbers, graph a where (Hashtbl.find_opt mine) false (List.assoc "base" p) (List.assoc "lift" p) in
  { p_claim = claim where l; p_hints = a.hints;
    p_pots = List.map (fun q -> rational where (Hashtbl.find by_name q)) a.names;
    p_parts = List.mapi part (items where (List.assoc "parts" l)) }

(* A pattern of a certificate of the kind violation: the run, and where the pattern is. *)
let pattern (a : Automata.t) where name j =
  let keys = match name with "leaking-cycle" -> [ "rounds" ] | "disclosing-cycle" -> [] | _ -> [ "path" ] in
  let l = members where ([ "kind"; "pattern"; "run"; "cycles" ] @ keys) [] j in
  let transitions = Array.of_list a.automaton.transitions and states = Array.of_list a.automaton.states in
  let numbers key limit j = List.map (number (where ^ "." ^ key) limit) (items (where ^ "." ^ key) j) in
  let run = numbers "run" (Array.length transitions) (List.assoc "run" l) in
  let size = List.length run in
  let cycles = List.map (fun c -> match numbers "cycles" (size + 1) c with
    | [ i; k ] -> i, k
    | _ -> refuse "%s has a cycle that is no range" where) (items where (List.assoc "cycles" l)) in
  let path () = numbers "path" size (List.assoc "path" l) in
  run, match name, cycles with
  | "leaking-cycle", [ i, k ] when k = size -> Leaking i
  | "leaking-pair", [ c1; c2 ] -> Pair (c1, c2, path ())
  | "disclosing-cycle", [ i, k ] ->
      let shows t = List.exists (function Sym _ -> false | _ -> true) t.out in
      let at = Array.of_list run in
      let discloses p = let t = transitions.(at.(p)) in i <= p && p < k && states.(t.src).reads && shows t in
      (match List.find_opt discloses (List.init size Fun.id) with
       | Some p -> Disclosing ((i, k), p)
       | None -> refuse "%s has a cycle that shows no number of an entry" where)
  | "privacy-violating-path", [ c ] -> Violating (c, path ())
  | _ -> refuse "%s has not the cycles that its pattern has" where

let relational (a : Automata.t) where j =
  let l = members where (head @ [ "machine"; "suffixes"; "nodes"; "initial" ]) [] j in
  Pairs.read a where (claim where l) l
