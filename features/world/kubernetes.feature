# Releases of Kubernetes in one cluster: a control plane that is upgraded, and kubelets behind it.

@programs
Feature: The control plane is upgraded while the cluster lives

  Scenario: All of it ends and starts as in an upgrade, here to the same release, and nothing is lost
    Given a cluster of Kubernetes v1.36.3 until its control plane is upgraded
    And a Ready Node "a" for system pods only
    And the first call "create pods/binding" of the program "kube-scheduler" is answered with 503, once {source: harness, verb: upgraded}
    And these objects:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 1
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            tolerations: [{key: CriticalAddonsOnly, operator: Exists}]
            containers: [{name: web, image: web}]
      """
    Then a pod of the Deployment "web" is Running within 1m
    When the control plane is upgraded
    And "Deployment/web" is scaled to 2
    Then "node" has recorded "running" of "pods" within 2m
    And "node" never records "notready" of "nodes" within 2m
    And this holds:
      """
      statement: kube-apiserver is upgraded first, and each of the controllers when what comes before it serves
      sequence:
        - {match: {source: harness, verb: upgraded, resource: programs, name: kubernetes, detail: {version: v1.36.3}}}
        - {match: {source: harness, verb: stopped, resource: programs, name: kube-apiserver}}
        - {match: {source: harness, verb: started, resource: programs, name: kube-apiserver}}
        - {match: {source: harness, verb: stopped, resource: programs, name: kube-controller-manager}}
        - {match: {source: harness, verb: started, resource: programs, name: kube-controller-manager}}
        - {match: {source: harness, verb: stopped, resource: programs, name: kube-scheduler}}
        - {match: {source: harness, verb: started, resource: programs, name: kube-scheduler}}
        - {match: {source: fault, verb: effective}}
        - {match: {source: node, verb: running, resource: pods}}
      """

  Scenario: A kubelet of the release before cannot do what a pod asks for, and one of this release can
    Given a cluster
    And every new simulated node has a kubelet of Kubernetes v1.35.4
    When a machine "old" with a simulated kubelet boots
    Then the Node "old" is Ready within 2m
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web, namespace: default}
      spec:
        containers:
          - name: web
            image: web
            restartPolicy: Never
            restartPolicyRules:
              - {action: RestartAllContainers, exitCodes: {operator: In, values: [3]}}
      """
    Then "kube-scheduler" never sends "create" of "pods/binding" within 2m
    When every new simulated node has a kubelet of Kubernetes v1.36.3
    And a machine "new" with a simulated kubelet boots
    Then "node" has recorded "running" of "pods" "web" within 2m
