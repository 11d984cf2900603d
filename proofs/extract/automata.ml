(* Automata in symdipa's JSON, for the checker, and their digest (docs/certificates.md). *)

open Checker
open Reading

type t = {
  automaton : automaton; names : string list; state : string -> int; variable : string -> int option;
  variables : int; register : string -> int option; hints : hints; digest : string; plain : bool; integer : bool;
  unfolds : bool     (* not all entries may differ, or there are registers *)
}

(* A rational in lowest terms, as text. *)
let lowest j =
  let s = match j with Json.Text s -> s | _ -> "" in
  let rec gcd a b = if b = 0 then a else gcd b (a mod b) in
  let value t = match int_of_string_opt ("0u" ^ t) with
    | Some v when t <> "" && String.length t <= 17 -> v
    | _ -> refuse "the number %s of the automaton is too long" s in
  ignore (rational "a number of the automaton" j);
  let minus = s.[0] = '-' in
  let body = if minus then String.sub s 1 (String.length s - 1) else s in
  let a, b = match String.index_opt body '/' with
    | None -> value body, 1
    | Some i -> value (String.sub body 0 i), value (String.sub body (i + 1) (String.length body - i - 1)) in
  let g = gcd a b in
  let a, b = a / g, b / g in
  (if minus && a > 0 then "-" else "") ^ string_of_int a ^ if b = 1 then "" else "/" ^ string_of_int b

let listed l = "[" ^ String.concat "," l ^ "]"
let quoted = Json.quoted

(* Python sorts texts by their characters, and so does the order of bytes in UTF-8. *)
let sorted l = listed (List.map quoted (List.sort_uniq compare l))

(* ---- The parts of a transition, as they are written ---- *)

let get = List.assoc

type written_term = { name : string option; mirror : bool; offset : Json.t }
type written_item =
  [ `Symbol of string | `Sample | `Other | `Value of string | `Difference of string * string ]

let written_term where j =
  let l = members where [] [ "name"; "offset"; "mirrored" ] j in
  { name = (match List.assoc_opt "name" l with None -> None | Some v -> Some (text where v));
    mirror = optional "mirrored" l (truth where) false; offset = optional "offset" l (fun v -> v) (Json.Text "0") }

let written_item where j : written_item =
  match table where j with
  | [ ("symbol", Json.Text s) ] -> `Symbol s
  | [ ("real", Json.Text "insample") ] -> `Sample
  | [ ("real", Json.Text "insampleprime") ] -> `Other
  | [ ("value", Json.Text x) ] -> `Value x
  | [ ("difference", Json.List [ Json.Text x; Json.Text y ]) ] -> `Difference (x, y)
  | _ -> refuse "%s shows what is not known" where

let written_output where j =
  match table where j with
  | [ ("several", Json.List l) ] -> true, List.map (written_item where) l
  | _ -> false, [ written_item where j ]

(* [x, the variable y or a constant]. *)
let written_copy where j =
  let l = members where [ "variable" ] [ "from"; "constant" ] j in
  let x = text where (get "variable" l) in
  match List.assoc_opt "from" l, List.assoc_opt "constant" l with
  | Some y, None -> x, `Variable (text where y)
  | None, Some v -> x, `Constant v
  | _ -> refuse "%s copies nothing, or two things" where

let names_of_item = function
  | `Value x -> [ x ] | `Difference (x, y) -> [ x; y ] | _ -> []

(* States in an order in which those that a path leads to come first, as far as there are no circles. *)
let ends_first states initial leaving =
  let seen = Array.make states false and order = ref [] in
  let stack = Stack.create () in
  let visit q = if not seen.(q) then (seen.(q) <- true; Stack.push (q, ref leaving.(q)) stack) in
  let settle () = while not (Stack.is_empty stack) do
    let q, rest = Stack.top stack in
    match !rest with
    | t :: more -> rest := more; visit t.tgt
    | [] -> ignore (Stack.pop stack); order := q :: !order
  done in
  visit initial;
  settle ();
  for q = 0 to states - 1 do visit q; settle () done;
  List.rev !order

(* Variables that some path reads before it stores them, by state: what has to be stored there. *)
let needed a =
  let module S = Set.Make (Int) in
  let states = List.length a.states in
  let found = Array.make states S.empty and leaving = Array.make states [] in
  List.iter (fun t -> leaving.(t.src) <- t :: leaving.(t.src)) a.transitions;
  let order = ends_first states a.initial leaving in
  let before t = S.union (S.of_list (Checker.read t)) (S.diff found.(t.tgt) (S.of_list (gets t))) in
  let changes q =
    let now = List.fold_left (fun s t -> S.union s (before t)) found.(q) leaving.(q) in
    S.cardinal now > S.cardinal found.(q) && (found.(q) <- now; true) in
  let rec settle () = if List.fold_left (fun any q -> changes q || any) false order then settle () in
  settle ();
  List.map S.elements (Array.to_list found)

(* What a place of an automaton holds beyond those of the paper. *)
let law where = function
  | Json.Text "laplace" -> Laplace
  | Json.Text "exponential" -> Exponential
  | Json.Text "none" -> Exact
  | _ -> refuse "%s has a noise that is not known" where
let law_name = function Laplace -> "\"laplace\"" | Exponential -> "\"exponential\"" | Exact -> "\"none\""

let read j =
  let top = members "the automaton" [ "format"; "version"; "initial"; "states"; "transitions" ]
      [ "name"; "halt"; "integer"; "differ"; "variables" ] j in
  if get "format" top <> Json.Text "symdipa-automaton" || get "version" top <> Json.Int 1 then
    refuse "the automaton is not of format \"symdipa-automaton\" and version 1";
  let differ_text = optional "differ" top (text "differ") "all" in
  let differ = Differ.pattern differ_text in
  let integer = optional "integer" top (truth "integer") false in
  let states = List.mapi (fun i s ->
    let where = Printf.sprintf "state %d" i in
    where, members where [ "name" ]
      [ "input"; "draws"; "noise"; "noise_prime"; "d"; "mu"; "d_prime"; "mu_prime"; "registers" ] s)
    (items "states" (get "states" top)) in
  let names = List.map (fun (where, s) -> text where (get "name" s)) states in
  Option.iter (fun s -> refuse "the state %s is listed twice" s) (twice names);
  let find = numbering names in
  let state s = match find s with Some n -> n | None -> refuse "the state %s does not exist" s in
  let written_factors (where, s) = optional "registers" s (table where) [] in
  let is_input where s = optional "input" s (truth where) true in
  let draws where s = optional "draws" s (truth where) true in
  let law_at key where s = optional key s (law where) Laplace in
  let inputs = Array.of_list (List.map (fun (where, s) -> is_input where s) states) in
  let texts where k l = optional k l (fun v -> List.map (text where) (items where v)) [] in
  let transitions = List.mapi (fun i t ->
    let where = Printf.sprintf "transition %d" i in
    let t = members where [ "from"; "to"; "output" ] [ "guard"; "assign"; "copies"; "updates" ] t in
    let update j =
      let l = members where [ "register" ] [ "from"; "adds_input" ] j in
      text where (get "register" l), (match List.assoc_opt "from" l with None | Some Json.Null -> None | Some y -> Some (text where y)),
      optional "adds_input" l (truth where) false in
    let updates = optional "updates" t (fun v -> List.map update (items where v)) [] in
    Option.iter (fun r -> refuse "%s sets the register %s twice" where r) (twice (List.map (fun (r, _, _) -> r) updates));
    if List.exists (fun (_, _, adds) -> adds) updates && not inputs.(state (text where (get "from" t))) then
      refuse "%s adds an entry that its state does not read" where;
    let guard = optional "guard" t (members where [] [ "ge"; "lt"; "others" ]) [] in
    let other j =
      let l = members where [ "low"; "high" ] [ "strict" ] j in
      written_term where (get "low" l), written_term where (get "high" l), optional "strict" l (truth where) false in
    let others = optional "others" guard (fun v -> List.map other (items where v)) [] in
    let ge = texts where "ge" guard and lt = texts where "lt" guard in
    if List.exists (fun x -> List.mem x lt) ge then refuse "%s asks for both sides of a variable" where;
    let copies = optional "copies" t (fun v -> List.map (written_copy where) (items where v)) [] in
    let assign = texts where "assign" t in
    Option.iter (fun x -> refuse "%s assigns the variable %s twice" where x) (twice (List.sort_uniq compare assign @ List.map fst copies));
    where, text where (get "from" t), text where (get "to" t), ge, lt, others, assign, (copies, updates), written_output where (get "output" t))
    (items "transitions" (get "transitions" top)) in
  let named = List.filter (fun x -> x <> "insample" && x <> "insampleprime") in
  let mentioned (_, _, _, ge, lt, others, assign, (copies, _), (_, out)) =
    ge @ lt @ assign @ List.map fst copies
    @ List.filter_map (fun (_, y) -> match y with `Variable y -> Some y | `Constant _ -> None) copies
    @ named (List.filter_map (fun x -> x) (List.concat_map (fun (a, b, _) -> [ a.name; b.name ]) others))
    @ named (List.concat_map names_of_item out) in
  let all = texts "variables" "variables" top @ List.concat_map mentioned transitions in
  let reserved = [ "insample"; "insampleprime"; "" ] in
  let variable = numbering all in
  let var x = Option.get (variable x) in
  let registers = List.concat_map (fun s -> List.map fst (written_factors s)) states
    @ List.concat_map (fun (_, _, _, _, _, _, _, (_, updates), _) ->
        List.concat_map (fun (r, y, _) -> r :: Option.to_list y) updates) transitions in
  let register = numbering registers in
  let reg r = Option.get (register r) in
  let unfolds = differ <> every_entry || registers <> [] in
  let symbol =
    let f = numbering (List.concat_map (fun (_, _, _, _, _, _, _, _, (_, out)) ->
      List.filter_map (function `Symbol s -> Some s | _ -> None) out) transitions) in
    fun s -> Option.get (f s) in
  let place where = function
    | None -> Zero
    | Some "insample" -> Insample
    | Some "insampleprime" -> refuse "%s compares or copies insampleprime" where
    | Some x -> Held (var x) in
  let term where t = { negative = t.mirror; whence = place where t.name; plus = rational where t.offset } in
  let stat (where, s) =
    let q k = match List.assoc_opt k s with None | Some Json.Null -> zero | Some v -> rational where v in
    (* A state that draws nothing is one whose sample nothing may use. *)
    let drawn = draws where s in
    { reads = is_input where s; law_of = (if drawn then law_at "noise" where s else Laplace);
      d = (if drawn then q "d" else zero); mu = q "mu";
      law_of' = (if drawn then law_at "noise_prime" where s else Laplace);
      d' = (if drawn then q "d_prime" else zero); mu' = q "mu_prime";
      factors = (if drawn then List.map (fun (r, f) -> reg r, rational where f) (written_factors (where, s)) else []) } in
  let stats = List.map stat states in
  let trans (where, a, b, ge, lt, others, assign, (copies, updates), (_, out)) =
    let copies = List.map (fun (x, y) -> x, (match y with
      | `Variable y -> { negative = false; whence = place where (Some y); plus = zero }
      | `Constant v -> { negative = false; whence = Zero; plus = rational where v })) copies in
    (* What is shown is meant after the assignments. *)
    let held x =
      if x = "insample" || List.mem x assign then { negative = false; whence = Insample; plus = zero }
      else match List.assoc_opt x copies with
        | Some v -> v
        | None -> { negative = false; whence = place where (Some x); plus = zero } in
    let nothing = { negative = false; whence = Zero; plus = zero } in
    let item : written_item -> item = function
      | `Symbol s -> Sym (symbol s)
      | `Sample -> Number (held "insample", nothing)
      | `Other -> Other
      | `Value "insample" -> refuse "%s shows insample as a value" where
      | `Value x -> Number (held x, nothing)
      | `Difference (x, y) -> Number (held x, held y) in
    { src = state a; tgt = state b; t_ge = List.sort_uniq compare (List.map var ge);
      t_lt = List.sort_uniq compare (List.map var lt);
      others = List.map (fun (l, h, strict) -> { low = term where l; high = term where h; strict }) others;
      asg = List.sort_uniq compare (List.map var assign);
      copies = List.map (fun (x, v) -> var x, v) copies;
      sets = List.map (fun (r, y, adds) -> reg r, { from = Option.map reg y; adds }) updates; out = List.map item out } in
  let trans = List.map trans transitions in
  let simple (_, a, _, ge, lt, others, _, (copies, _), (several, out)) =
    others = [] && copies = [] && not several
    && List.for_all (fun i -> match i with `Value _ | `Difference _ -> false | _ -> true) out
    && (inputs.(state a) || (ge = [] && lt = [])) in
  let plain = not integer && not unfolds && List.for_all simple transitions
    && List.for_all (fun (where, s) -> draws where s && law_at "noise" where s = Laplace && law_at "noise_prime" where s = Laplace) states in
  if plain then begin
    let leaving = Array.make (Array.length inputs) 0 in
    List.iter (fun t ->
      leaving.(t.src) <- leaving.(t.src) + 1;
      if leaving.(t.src) > 1 && not inputs.(t.src) then refuse "the non-input state %s has two transitions" (List.nth names t.src)) trans
  end
  else List.iter (fun x -> if List.mem x reserved then refuse "a variable has no name, or that of a sample") all;
  List.iter (fun r -> if List.mem r reserved || variable r <> None then
    refuse "a register has no name, or that of a variable or a sample") registers;
  let initial = text "the initial state" (get "initial" top) in
  let automaton = { initial = state initial; states = stats; transitions = trans; differ } in
  (* The canonical form. *)
  let form_state (where, s) =
    let q k default = match List.assoc_opt k s with None | Some Json.Null -> default | Some v -> quoted (lowest v) in
    listed ([ quoted (text where (get "name" s)); string_of_bool (is_input where s);
              q "d" "null"; q "mu" "\"0\""; q "d_prime" "null"; q "mu_prime" "\"0\"" ]
            @ if plain then [] else
                [ law_name (law_at "noise" where s); law_name (law_at "noise_prime" where s); string_of_bool (draws where s) ]
                @ if unfolds then [ listed (List.map (fun (r, f) -> listed [ quoted r; quoted (lowest f) ])
                    (List.sort compare (written_factors (where, s)))) ] else []) in
  let form_item = function
    | `Symbol s -> listed [ "\"symbol\""; quoted s ]
    | `Sample -> "[\"real\",\"insample\"]"
    | `Other -> "[\"real\",\"insampleprime\"]"
    | `Value x -> listed [ "\"real\""; "\"value\""; quoted x ]
    | `Difference (x, y) -> listed [ "\"real\""; "\"difference\""; quoted x; quoted y ] in
  let name t = match t.name with None -> "" | Some x -> x in
  let form_term t = listed [ quoted (name t); string_of_bool t.mirror; quoted (lowest t.offset) ] in
  let form_other (l, h, strict) = listed [ form_term l; form_term h; string_of_bool strict ] in
  let key_term t = name t, t.mirror, lowest t.offset in
  let key_other (l, h, strict) = key_term l, key_term h, strict in
  let form_copy (x, y) = listed [ quoted x; (match y with
    | `Variable y -> listed [ "\"variable\""; quoted y ]
    | `Constant v -> listed [ "\"constant\""; quoted (lowest v) ]) ] in
  let form_update (r, y, adds) = listed [ quoted r; quoted (Option.value y ~default:""); string_of_bool adds ] in
  let key_update (r, y, adds) = r, Option.value y ~default:"", adds in
  let form_trans (_, a, b, ge, lt, others, assign, (copies, updates), (several, out)) =
    listed ([ quoted a; quoted b; sorted ge; sorted lt; sorted assign;
              (if several then listed ("\"several\"" :: List.map form_item out) else form_item (List.hd out)) ]
            @ if plain then [] else
                [ listed (List.map form_other (List.sort (fun a b -> compare (key_other a) (key_other b)) others));
                  listed (List.map form_copy copies) ]
                @ if unfolds then [ listed (List.map form_update (List.sort (fun a b -> compare (key_update a) (key_update b)) updates)) ]
                  else []) in
  let form = listed ((if plain then [] else [ "\"wider\""; string_of_bool integer ])
    @ [ quoted initial; listed (List.map form_state states); listed (List.map form_trans transitions) ]
    @ if unfolds then [ quoted differ_text ] else []) in
  { automaton; names; state; variable; variables = List.length (List.sort_uniq compare all);
    register; hints = { stored = needed automaton; lesser = Differ.lesser differ;
      why = (if plain then Finder.direct_sums ~equal:true else Finder.sums); between = Finder.between }; digest = Sha256.hex form; plain; integer; unfolds }
