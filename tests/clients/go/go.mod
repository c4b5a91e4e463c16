module dovetail/clients

go 1.27
