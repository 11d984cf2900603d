(* From JSON to values of the expected type; whatever else comes is refused. *)

open Checker

exception Refused of string          (* proves nothing *)
exception Not_proved of string       (* may be right, but no theorem here says so *)

let refuse fmt = Printf.ksprintf (fun s -> raise (Refused s)) fmt
let not_proved fmt = Printf.ksprintf (fun s -> raise (Not_proved s)) fmt

(* The members of an object that has the required keys and none but these and the optional ones. *)
let members where required optional = function
  | Json.Object l ->
      List.iter (fun k -> if not (List.mem_assoc k l) then refuse "%s has no \"%s\"" where k) required;
      List.iter (fun (k, _) -> if not (List.mem k required || List.mem k optional) then
        refuse "%s has a key \"%s\" that the format does not have" where k) l;
      l
  | _ -> refuse "%s is not an object" where
let table where = function Json.Object l -> l | _ -> refuse "%s is not an object" where
let items where = function Json.List l -> l | _ -> refuse "%s is not a list" where
let text where = function Json.Text s -> s | _ -> refuse "%s is not a text" where
let truth where = function Json.Bool b -> b | _ -> refuse "%s is neither true nor false" where
let number where limit = function
  | Json.Int n when 0 <= n && n < limit -> n
  | Json.Int n -> refuse "%s is %d, not one of the %d numbers from 0 on" where n limit
  | _ -> refuse "%s is not an integer" where
let optional key l f default = match List.assoc_opt key l with None -> default | Some v -> f v

(* ---- Rationals ---- *)

let rec positive n = if n = 1 then XH else if n land 1 = 1 then XI (positive (n / 2)) else XO (positive (n / 2))
let small n = if n = 0 then Z0 else Zpos (positive n)
let zero = { qnum = Z0; qden = XH }

(* Twelve digits at a time. *)
let digits where s =
  let n = String.length s in
  if n = 0 || n > 1000 then refuse "%s is not a rational of moderate length" where;
  String.iter (fun c -> if c < '0' || c > '9' then refuse "%s is not a text such as \"5/4\"" where) s;
  let rec from i z =
    if i >= n then z
    else
      let k = min 12 (n - i) in
      let scale = small (int_of_float (10. ** float_of_int k)) in
      from (i + k) (Z.add (Z.mul z scale) (small (int_of_string ("0u" ^ String.sub s i k)))) in
  from 0 Z0

let rational where j =
  let s = match j with Json.Text s -> s | _ -> refuse "%s is not a text such as \"5/4\"" where in
  let minus = s <> "" && s.[0] = '-' in
  let s = if minus then String.sub s 1 (String.length s - 1) else s in
  let num, den = match String.index_opt s '/' with
    | None -> digits where s, XH
    | Some i ->
        let above = digits where (String.sub s 0 i) in
        (match digits where (String.sub s (i + 1) (String.length s - i - 1)) with
         | Zpos p -> above, p
         | _ -> refuse "%s has the denominator 0" where) in
  { qnum = (if minus then Z.opp num else num); qden = den }

let interval where j = match items where j with
  | [ a; b ] -> rational where a, rational where b
  | l -> refuse "%s has %d items, not 2" where (List.length l)

(* ---- Names ---- *)

(* Names get the numbers 0, 1, ... in the order of the list. *)
let numbering names =
  let t = Hashtbl.create 97 in
  List.iter (fun s -> if not (Hashtbl.mem t s) then Hashtbl.add t s (Hashtbl.length t)) names;
  fun s -> Hashtbl.find_opt t s

let twice l =
  let rec go = function a :: (b :: _ as m) -> if a = b then Some a else go m | _ -> None in
  go (List.sort compare l)
